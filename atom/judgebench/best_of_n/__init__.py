"""Best of n: what a judge's picks among several answers to one question are worth."""
