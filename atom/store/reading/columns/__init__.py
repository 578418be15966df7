"""A study's rows as columns, by the rules of `standing`: how a large study is read.

A study may have a million marks. Where it is a quarter of its store or more, whole tables are
scanned; smaller ones are looked up through the indexes (design/007-data-path.md).
"""
