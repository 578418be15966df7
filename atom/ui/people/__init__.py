"""Human check, and people's labels wherever they show."""
