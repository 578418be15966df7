"""Pictures made fit for an endpoint."""
