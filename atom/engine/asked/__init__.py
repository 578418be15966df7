"""A question in words is put to a judge, which names the view that answers it."""
