"""How far a study's judge can be trusted: ratings read, noise, pulls, and what is said of them."""
