"""The probe endpoint: a server that speaks the protocol."""
