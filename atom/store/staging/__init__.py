"""An import on its way in: gathered in tables of its own, then moved into the store at once.

What is read goes into temporary tables first, which no reader sees and no writer waits for. One
transaction moves it, which ends when everything is there and counted: so a process that is killed
at any moment leaves nothing, and what is new is found set by set instead of row by row
(design/023). It begins when all was read; where another process reads (`move_on`), with the first
rows.
"""
