"""How far judges and people agree, with themselves and with the truth."""
