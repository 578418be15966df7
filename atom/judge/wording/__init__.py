"""The few sentences that the client itself adds to a request, one file each."""
