"""Groups of failures: an endpoint embeds their reasons, a judge names them."""
