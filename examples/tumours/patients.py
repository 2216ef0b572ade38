"""The rows of three made-up sites: a DataFrame each, of categories, texts and numbers, some missing."""
import pandas


def patients(site):
    state = 1000 + site

    def draw(below):
        nonlocal state
        state = state * 16807 % 2147483647  # the same numbers in each language
        return state // 1000 % below

    rows = []
    for _ in range(90):
        histology, stage, age = draw(3), draw(2), 30 + draw(50)
        relapse = age + 20 * stage + 10 * histology + draw(100) > 130
        rows.append((-1 if draw(20) == 0 else histology, "II" if stage else "I", None if draw(20) == 0 else float(age), "yes" if relapse else "no"))
    frame = pandas.DataFrame(rows, columns=["histology", "stage", "age", "relapse"])
    frame["histology"] = pandas.Categorical.from_codes(frame["histology"], ["ductal", "lobular", "other"])
    return frame
