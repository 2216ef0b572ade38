"""Public sets for bench/run_private and bench/check_plan: each is (columns, rows), the label last, with bounds written down as round
numbers with the sets' public descriptions in view. Files are looked for in a folder and those below it, plain or .xz."""
import csv
import json
import lzma
import math
import os
import random
import re

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(folder, name, mode="rt"):
    """An open file, looked for in the folder and those below it, plain or packed."""
    for at, _, files in os.walk(folder):
        if name in files:
            return open(os.path.join(at, name), mode)
        if name + ".xz" in files:
            return lzma.open(os.path.join(at, name + ".xz"), mode)
    raise FileNotFoundError(name)


def number(name, low, high):
    return name, (low, high)


def levels(name, *values):
    return name, list(values)


def wine(folder):
    columns = [number("fixed_acidity", 4, 11), number("volatile_acidity", 0, 1), number("citric_acid", 0, .8),
               number("residual_sugar", 0, 20), number("chlorides", 0, .12), number("free_sulfur_dioxide", 0, 70),
               number("total_sulfur_dioxide", 0, 250), number("density", .987, 1.003), number("pH", 2.8, 3.7),
               number("sulphates", .2, 1), number("alcohol", 8, 14), number("red", 0, 1)]
    rows = []
    for red, name in ((1, "winequality-red.csv"), (0, "winequality-white.csv")):
        with read(folder, name) as file:
            rows += [line[:11] + [red, int(int(line[11]) >= 6)] for line in list(csv.reader(file, delimiter=";"))[1:]]
    return columns, rows


def breast(folder):
    text = open(os.path.join(ROOT, "examples", "breast_cancer.schema.yaml")).read()
    columns = [number(m[1], float(m[2]), float(m[3]))
               for m in re.finditer(r"name: (\w+), kind: number, low: ([\d.]+), high: ([\d.]+)", text)]
    with open(os.path.join(ROOT, "examples", "breast_cancer.csv")) as file:
        rows = [[line[n] for n, _ in columns] + [int(line["diagnosis"] == "malignant")] for line in csv.DictReader(file)]
    return columns, rows


def nwtco(folder):
    columns = [number("unfavourable", 0, 1), levels("stage", "1", "2", "3", "4"), number("late_unfavourable", 0, 1),
               number("age", 0, 120), number("study", 3, 4)]
    rows = []
    with read(folder, "nwtco.csv") as file:
        for line in csv.DictReader(file):
            unfavourable = int(line["histol"]) - 1
            rows.append([unfavourable, line["stage"], int(unfavourable and int(line["stage"]) >= 3), line["age"], line["study"], line["rel"]])
    return columns, rows


def rotterdam(folder):
    columns = [number("age", 25, 85), number("meno", 0, 1), levels("size", "<=20", "20-50", ">50"), number("grade", 2, 3),
               number("nodes", 0, 15), number("pgr", 0, 500), number("er", 0, 500), number("hormon", 0, 1), number("chemo", 0, 1)]
    with read(folder, "rotterdam.csv") as file:
        return columns, [[line[n] for n, _ in columns] + [line["death"]] for line in csv.DictReader(file)]


def fraud(folder):
    columns = [number(f"V{i}", -5, 5) for i in range(1, 29)] + [number("Amount", 0, 500)]
    try:
        file = read(folder, "creditcard_subset.csv")
    except FileNotFoundError:
        file = read(folder, "creditcard.csv")
    with file:
        return columns, [[line[n] for n, _ in columns] + [line["Class"].strip("'\"")] for line in csv.DictReader(file)]


PURPOSES = ("car", "credit_card", "debt_consolidation", "home_improvement", "house", "major_purchase", "medical", "moving", "other",
            "small_business", "vacation", "wedding")


def lending(folder):
    columns = [number("loan_amnt", 0, 35000), levels("term", "36 months", "60 months"), number("annual_inc", 0, 150000), number("dti", 0, 35),
               number("payment_inc_ratio", 0, 20), number("revol_bal", 0, 50000), number("revol_util", 0, 100), levels("purpose", *PURPOSES),
               levels("home_ownership", "MORTGAGE", "OTHER", "OWN", "RENT"), number("delinq_2yrs_zero", 0, 1), number("pub_rec_zero", 0, 1),
               number("open_acc", 0, 30), number("grade", 0, 7), number("emp_length", 0, 11)]
    rows = []
    with read(folder, "full_train_set.csv") as file:
        for line in csv.DictReader(file):
            if line["purpose"] not in PURPOSES:
                line["purpose"] = "other"
            rows.append([line[n].strip() for n, _ in columns] + [int(line["outcome"] == "default")])
    return columns, rows


KDD = ("duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot num_failed_logins logged_in num_compromised "
       "root_shell su_attempted num_root num_file_creations num_shells num_access_files num_outbound_cmds is_host_login is_guest_login count "
       "srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count "
       "dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate "
       "dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate").split()
KDD_LOGS = {"duration": 10, "src_bytes": 15, "dst_bytes": 15}
KDD_MOST = {"wrong_fragment": 3, "hot": 5, "num_failed_logins": 2, "num_compromised": 3, "num_root": 3, "num_file_creations": 3,
            "num_access_files": 2, "count": 511, "srv_count": 511, "dst_host_count": 255, "dst_host_srv_count": 255, **KDD_LOGS}


def kdd(folder):
    with read(folder, "kddcup.data_10_percent") as file:
        lines = [line.rstrip("\n").rstrip(".").split(",") for line in file]
    services = sorted({line[2] for line in lines}) # a public list of what networks offer
    flags = sorted({line[3] for line in lines})
    random.Random(1).shuffle(lines)
    kept = [i for i, name in enumerate(KDD) if name != "num_outbound_cmds"]
    of_levels = {"protocol_type": ("tcp", "udp", "icmp"), "service": services, "flag": flags}
    columns = [levels(KDD[i], *of_levels[KDD[i]]) if KDD[i] in of_levels else number(KDD[i], 0, KDD_MOST.get(KDD[i], 1)) for i in kept]
    rows = [[f"{math.log1p(float(line[i])):.4f}" if KDD[i] in KDD_LOGS else line[i] for i in kept] + [int(line[41] != "normal")]
            for line in lines[:60000]]
    return columns, rows


def mnist(folder):
    """0 and 8, by the first fifty principal components of the other digits, which are the public set."""
    with read(folder, "train-images-idx3-ubyte", "rb") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.
    with read(folder, "train-labels-idx1-ubyte", "rb") as file:
        label = np.frombuffer(file.read(), np.uint8, offset=8)
    public = images[(label != 0) & (label != 8)][:20000]
    mean = public.mean(0)
    _, size, axes = np.linalg.svd(public - mean, full_matrices=False)
    kept = (label == 0) | (label == 8)
    reach = round(2.5 * size[0] / math.sqrt(len(public)), 2)
    columns = [number(f"pc{i + 1}", -reach, reach) for i in range(50)]
    return columns, [[f"{t:.4f}" for t in row] + [int(y == 8)] for row, y in zip((images[kept] - mean) @ axes[:50].T, label[kept])]


# ---- sets on which no default of dpnewton was tuned ----


def caravan(folder):
    most = {1: 41, 2: 10, 3: 6, 4: 6, 5: 10}
    columns = [number(f"v{i}", 0, most.get(i, 9)) for i in range(1, 86)]
    with read(folder, "ticdata2000.txt") as file:
        return columns, [line.split() for line in file]


def phishing(folder):
    """UCI's phishing web sites: thirty columns of two or three levels."""
    with read(folder, "uci_phishing_websites.arff") as file:
        lines = [line.strip() for line in file]
    found = [re.match(r"@attribute\s+(\S+)\s+\{(.*)\}", line) for line in lines]
    columns = [levels(m[1], *sorted(m[2].replace(" ", "").split(","))) for m in found if m][:-1]
    rows = [line.split(",") for line in lines[lines.index("@data") + 1:] if line]
    return columns, [row[:-1] + [int(row[-1] == "1")] for row in rows]


NEWS_MOST = {"timedelta": 731, "n_tokens_title": 20, "n_tokens_content": 2500, "num_hrefs": 60, "num_self_hrefs": 20, "num_imgs": 40,
             "num_videos": 20, "average_token_length": 6, "num_keywords": 10, "kw_min_min": 400, "kw_max_min": 5000, "kw_avg_min": 1500,
             "kw_min_max": 100000, "kw_max_max": 850000, "kw_avg_max": 850000, "kw_min_avg": 4000, "kw_max_avg": 15000, "kw_avg_avg": 8000,
             "self_reference_min_shares": 20000, "self_reference_max_shares": 50000, "self_reference_avg_sharess": 30000,
             "global_rate_positive_words": 0.1, "global_rate_negative_words": 0.1}


def news(folder):
    """Online news in full width: shared 1,400 times or more."""
    with read(folder, "OnlineNewsPopularity_subset_61col.csv") as file:
        lines = [{key.strip(): value for key, value in line.items()} for line in csv.DictReader(file)]
    names = [name for name in lines[0] if name not in ("url", "shares")]
    columns = [number(name, -1 if "polarity" in name and "rate" not in name else 0, NEWS_MOST.get(name, 1)) for name in names]
    return columns, [[line[n] for n in names] + [int(float(line["shares"]) >= 1400)] for line in lines]


DISCHARGES = ("1", "2", "3", "4", "5", "6", "7", "11", "13", "14", "18", "22", "23", "25", "28", "other")
SPECIALTIES = ("?", "InternalMedicine", "Emergency/Trauma", "Family/GeneralPractice", "Cardiology", "Surgery-General", "Nephrology",
               "Orthopedics", "Psychiatry", "other")
DIAGNOSES = ((390, 460, "circulatory"), (460, 520, "respiratory"), (520, 580, "digestive"), (250, 251, "diabetes"), (800, 1000, "injury"),
             (710, 740, "musculoskeletal"), (580, 630, "genitourinary"), (140, 240, "neoplasms"))


def diagnosis(code):
    value = float(code) if code.replace(".", "").isdigit() else 0
    return next((name for low, high, name in DIAGNOSES if low <= value < high), "other")


def readmission(folder):
    """Diabetes in 130 hospitals: readmitted or not; 42,700 of the stays, in all the categories that their description names."""
    columns = [levels("age", *[f"[{i}-{i + 10})" for i in range(0, 100, 10)]),
               levels("race", "?", "AfricanAmerican", "Asian", "Caucasian", "Hispanic", "Other"), levels("gender", "Female", "Male"),
               levels("admission_type_id", *map(str, range(1, 9))), levels("discharge_disposition_id", *DISCHARGES),
               levels("admission_source_id", "1", "2", "3", "4", "5", "6", "7", "17", "20", "other"),
               levels("payer_code", "?", "MC", "HM", "SP", "BC", "MD", "CP", "other"), levels("medical_specialty", *SPECIALTIES),
               levels("diag_1", *[name for _, _, name in DIAGNOSES], "other"), levels("A1Cresult", "None", "Norm", ">7", ">8"),
               levels("max_glu_serum", "None", "Norm", ">200", ">300"), levels("insulin", "No", "Steady", "Up", "Down"),
               levels("metformin", "No", "Steady", "Up", "Down"), number("time_in_hospital", 1, 14), number("num_lab_procedures", 0, 130),
               number("num_procedures", 0, 6), number("num_medications", 0, 60), number("number_outpatient", 0, 5),
               number("number_emergency", 0, 5), number("number_inpatient", 0, 8), number("number_diagnoses", 1, 16),
               number("glipizide", 0, 1), number("glyburide", 0, 1), number("pioglitazone", 0, 1), number("rosiglitazone", 0, 1),
               number("change", 0, 1)]
    rows = []
    with read(folder, "diabetic_data.csv") as file:
        lines = [line for line in csv.DictReader(file) if line["gender"] != "Unknown/Invalid"]
    random.Random(1).shuffle(lines)
    for line in lines[:42700]:
        line["diag_1"] = diagnosis(line["diag_1"])
        row = []
        for name, what in columns:
            value = line[name]
            if isinstance(what, list):
                value = value if value in what else "other"
            elif value in ("No", "Ch", "Steady", "Up", "Down"):
                value = int(value != "No")
            row.append(value)
        rows.append(row + [int(line["readmitted"] != "NO")])
    return columns, rows


TUNED = {f.__name__: f for f in (lending, kdd, fraud, mnist, wine, nwtco, rotterdam, breast)}
HELD_OUT = {f.__name__: f for f in (readmission, news, phishing, caravan)}
LARGE = 20000 # rows from which one split and two trials do


# ---- files, and rows as numbers ----


def write(path, columns, rows):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([name for name, _ in columns] + ["y"])
        out.writerows(rows)


def schema(columns):
    lines = ["label: {name: y, classes: [\"0\", \"1\"]}", "columns:"]
    for name, what in columns:
        if isinstance(what, tuple):
            lines.append(f"  - {{name: {name}, kind: number, low: {what[0]}, high: {what[1]}}}")
        else:
            lines.append(f"  - {{name: {name}, kind: category, levels: [{', '.join(json.dumps(str(v)) for v in what)}]}}")
    return "\n".join(lines + ["intercept: yes", ""])


def deal(rows, seed, inner):
    rows = list(rows)
    random.Random(1000 if inner else 1000 + seed).shuffle(rows)
    cut = len(rows) * 3 // 4
    if not inner:
        return rows[:cut], rows[cut:]
    rows = rows[:cut]
    random.Random(seed).shuffle(rows)
    return rows[:len(rows) * 4 // 5], rows[len(rows) * 4 // 5:]


def width(columns):
    """Features, the intercept among them."""
    return 1 + sum(1 if isinstance(what, tuple) else len(what) for _, what in columns)


def encode(columns, rows):
    """(u, y): numbers taken to [-1, 1] by their bounds, a column for every level; no intercept."""
    out = np.zeros((len(rows), width(columns) - 1))
    at = 0
    for j, (_, what) in enumerate(columns):
        if isinstance(what, tuple):
            low, high = what
            raw = np.array([(low + high) / 2 if row[j] in ("", "NA") else float(row[j]) for row in rows])
            out[:, at] = np.clip(2 * (raw - low) / (high - low) - 1, -1, 1)
            at += 1
        else:
            place = {str(level): k for k, level in enumerate(what)}
            for i, row in enumerate(rows):
                k = place.get(str(row[j]))
                if k is not None:
                    out[i, at + k] = 1
            at += len(what)
    return out, np.array([int(row[-1]) for row in rows], dtype=float)
