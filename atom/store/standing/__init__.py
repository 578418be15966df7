"""What counts: which answers, outcomes, marks and criteria of a study stand, said once.

Every screen, run, correction, method, report and export reads through here (large studies through
`columns`, which follows the same rules), so that no two of them can disagree. The rules:

- An answer belongs to a study where its sample and its candidate do, where it is no correction,
  and where it was typed, imported or asked for under the study's settings (what these leave open
  may be anything). Its first answer is the one of the smallest repeat that has a text, else the
  smallest.
- Of an answer's outcomes the imported one counts, then one by rule, then the judge's that is looked
  at, then another judge's.
- All people together (`PEOPLE`) are a judge whose repeats are the people.
- A judge's marks that count are those on the newest scale that any of its marks in the study is
  on; of several on one criterion and answer those under the study's settings, then the newest
  prompt's, in all repeats.
- A sample is quarantined where the replay that stands for it disagrees with its reference.
- The criteria of a sample are those of the set that stands for it, in the order of their positions.
- What only an import brought that didn't come to its end counts nowhere.
"""
