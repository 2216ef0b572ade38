"""Tables of mixed columns: DataFrames, mappings, and a producer of the Arrow C data interface that is made by hand."""
import ctypes
import datetime
import gc

import numpy as np
import pytest

import tacit

SCHEMA = {"label": {"name": "ill", "classes": ["no", "yes"]},
          "columns": [{"name": "age", "kind": "number", "low": 0, "high": 100},
                      {"name": "ward", "kind": "category", "levels": ["A", "B", "C"]},
                      {"name": "since", "kind": "number", "date": "year", "low": 1990, "high": 2030}]}


@pytest.fixture
def columns(rng):
    wards = rng.choice(["A", "B", "C", None], 200)
    age = rng.uniform(20, 90, 200)
    since = np.datetime64("2000-01-01") + rng.integers(0, 9000, 200)
    return {"ill": np.where(age + 20 * (wards == "B") > 60, "yes", "no"), "age": age, "ward": wards, "since": since}


def fitted(data):
    return tacit.fit(tacit.Frame.table(data, schema=SCHEMA), method="output", epsilon=5, lam=0.01, seed=7)


def test_a_dataframe_with_categories_fits_and_is_predicted(columns, quiet):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    expected = fitted(columns)
    for data in (frame, frame.astype({"ward": "category", "ill": "category"}), frame.astype({"ward": "string"}),
                 frame[["since", "ward", "age", "ill"]]):
        model = fitted(data)
        assert model.to_json() == expected.to_json()
        assert (model.scores(data) == expected.scores(columns)).all()
    assert set(expected.predict(frame.drop(columns="ill"))) == {"no", "yes"}  # the label is not needed, others may be there
    frame.loc[3, "age"] = np.nan
    nullable = frame.assign(age=frame["age"].astype("Float64"))
    assert (expected.scores(nullable) == expected.scores(frame)).all()


def test_what_a_column_becomes_is_what_a_file_would_make_of_it(columns, tmp_path, quiet):
    path = tmp_path / "rows.csv"
    lines = ["ill,age,ward,since", *(f"{ill},{age!r},{ward or ''},{since}" for ill, age, ward, since in
                                     zip(columns["ill"], columns["age"].tolist(), columns["ward"], columns["since"]))]
    path.write_text("\n".join(lines) + "\n")
    schema = tmp_path / "schema.yaml"
    schema.write_text(__import__("json").dumps(SCHEMA))
    from_file = tacit.fit(tacit.Frame.load(path, schema=schema), method="output", epsilon=5, lam=0.01, seed=7)
    assert from_file.to_json() == fitted(columns).to_json()
    dates = [datetime.date.fromisoformat(str(day)) for day in columns["since"]]
    assert fitted({**columns, "since": np.array(dates, object)}).to_json() == from_file.to_json()


@pytest.mark.parametrize("kind", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", "f2"])
def test_numbers_of_every_type(columns, kind, quiet):
    age = np.arange(200) % 90
    wide = np.zeros((200, 3), kind)
    wide[:, 1] = age
    assert fitted({**columns, "age": wide[:, 1]}).to_json() == fitted({**columns, "age": age.astype(float)}).to_json()


def test_errors_name_the_column_and_the_remedy(columns):
    for strange, words in ((np.full(200, 1j), "'age' is of type complex128: convert"), (np.zeros((200, 2)), "'age' has 2 dimensions"),
                           (np.array([object()] * 200), "'age' has <object"), (np.full(200, np.timedelta64(1, "D")), "'age' is of type timedelta64")):
        with pytest.raises(tacit.InputError, match=words.replace("(", r"\(")):
            tacit.Frame.table({**columns, "age": strange}, schema=SCHEMA)
    with pytest.raises(tacit.InputError, match=r"row 1, column 2 \(age\): 'old' is not a number"):
        tacit.Frame.table({**columns, "age": ["old"] * 200}, schema=SCHEMA)
    with pytest.raises(tacit.UsageError, match="describe"):
        tacit.fit(tacit.Frame.table(columns))
    with pytest.raises(tacit.UsageError, match="one length"):
        tacit.Frame.table({"a": [1, 2], "b": [1]})


def test_times_until_an_event_from_memory(rng, quiet):
    x, ward = rng.uniform(size=400), rng.choice(["A", "B"], 400)
    time = np.ceil(rng.exponential(300 * np.exp(-x - 0.5 * (ward == "B"))))
    died = (time < 500).astype(np.int8)
    time = np.minimum(time, 500)
    schema = {"label": {"name": ["days", "died"], "kind": "time", "low": 0, "high": 500},
              "columns": [{"name": "x", "kind": "number", "low": 0, "high": 1}, {"name": "ward", "kind": "category", "levels": ["A", "B"]}]}
    table = tacit.Frame.table({"days": time, "died": died, "x": x, "ward": ward}, schema=schema, terms="surv(days, died) ~ x + ward")
    settings = {"width": 1, "least": 1}
    fitted = tacit.simulate(table, test=table, methods="cox", parties=1, seed=1, settings=settings).model
    rows = tacit.Frame(np.column_stack([x, ward == "B"]), time, event=died, response=(0, 500), bounds=(0, 1), names=["x", "wardB"])
    other = tacit.simulate(rows, test=rows, methods="cox", parties=1, seed=1, settings=settings).model
    found, again = (np.array([row["estimate"] for row in model.document["summary"]["coefficients"]]) for model in (fitted, other))
    assert np.abs(found - again).max() < 1e-8 and found[0] > 0.5 and found[1] > 0.2
    later = tacit.Frame(x.reshape(-1, 1), time, event=died, entry=np.zeros(400), response=(0, 500), bounds=(0, 1))
    assert tacit.simulate(later, test=later, methods="cox", parties=1, seed=1, settings=settings).model is not None
    for wrong in ({"event": died * 2}, {"event": died, "entry": time}):
        with pytest.raises(tacit.InputError, match="row "):
            tacit.Frame(x.reshape(-1, 1), time, response=(0, 500), **wrong)
    with pytest.raises(tacit.UsageError, match="events need times"):
        tacit.Frame(x.reshape(-1, 1), time, event=died)


# ---- Arrow ----

class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowStream(ctypes.Structure):
    pass


def _released(structure):
    return ctypes.CFUNCTYPE(None, ctypes.POINTER(structure))


ArrowSchema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                        ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
                        ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", _released(ArrowSchema)), ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                       ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                       ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.POINTER(ArrowArray)),
                       ("release", _released(ArrowArray)), ("private_data", ctypes.c_void_p)]
ArrowStream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowSchema))),
                        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowArray))),
                        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowStream))),
                        ("release", _released(ArrowStream)), ("private_data", ctypes.c_void_p)]


class Producer:
    """A library with tables of its own, as polars or pyarrow: columns as (format, buffers, dictionary)."""

    def __init__(self, columns, batches=1):
        self.columns, self.kept, self.released = columns, [], []
        self.rows = len(next(iter(columns.values()))[2])
        self.batches = batches

    def _keep(self, thing):
        self.kept.append(thing)
        return thing

    def _schema(self, code, name, children=(), dictionary=None):
        made = ArrowSchema(format=code.encode(), name=name.encode(), n_children=len(children))
        if children:
            made.children = self._keep((ctypes.POINTER(ArrowSchema) * len(children))(*[ctypes.pointer(self._keep(one)) for one in children]))
        if dictionary is not None:
            made.dictionary = ctypes.pointer(self._keep(dictionary))
        made.release = self._keep(_released(ArrowSchema)(lambda pointer: self._gone(pointer, ArrowSchema, name)))
        return made

    def _array(self, length, buffers=(), children=(), dictionary=None, offset=0, name=""):
        made = ArrowArray(length=length, null_count=-1, offset=offset, n_buffers=len(buffers), n_children=len(children))
        addresses = [None if part is None else self._keep(part).ctypes.data for part in buffers]
        made.buffers = self._keep((ctypes.c_void_p * max(1, len(buffers)))(*addresses))
        if children:
            made.children = self._keep((ctypes.POINTER(ArrowArray) * len(children))(*[ctypes.pointer(self._keep(one)) for one in children]))
        if dictionary is not None:
            made.dictionary = ctypes.pointer(self._keep(dictionary))
        made.release = self._keep(_released(ArrowArray)(lambda pointer: self._gone(pointer, ArrowArray, name)))
        return made

    def _gone(self, pointer, kind, name):
        self.released.append(name)
        ctypes.memset(ctypes.addressof(pointer.contents) + kind.release.offset, 0, ctypes.sizeof(ctypes.c_void_p))

    def schema(self):
        children = [self._schema(code, name, dictionary=None if levels is None else self._schema("u", ""))
                    for name, (code, _, _, levels) in self.columns.items()]
        return self._schema("+s", "table", children)

    def array(self, first=0, rows=None):
        rows = self.rows if rows is None else rows
        children = []
        for code, valid, values, levels in self.columns.values():
            dictionary = None
            if levels is not None:
                dictionary = self._array(len(levels), [None, *texts(levels)])
            parts = texts(values) if code in ("u", "U") else [values]
            children.append(self._array(self.rows, [valid, *parts], dictionary=dictionary, name="column"))
        return self._array(rows, [None], children, offset=first, name="array")

    def _capsule(self, thing, name):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._keep(thing)), self._keep(name), None)

    def __arrow_c_array__(self, requested_schema=None):
        return self._capsule(self.schema(), b"arrow_schema"), self._capsule(self.array(), b"arrow_array")


class Streaming(Producer):
    """The same in batches."""
    __arrow_c_array__ = property()  # not there

    def __arrow_c_stream__(self, requested_schema=None):
        each = self.rows // self.batches
        ranges = [(k * each, each if k + 1 < self.batches else self.rows - k * each) for k in range(self.batches)]
        stream = ArrowStream()

        def get_schema(_, out):
            out[0] = self.schema()
            return 0

        def get_next(_, out):
            ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
            if ranges:
                out[0] = self.array(*ranges.pop(0))
            return 0

        fields = dict(ArrowStream._fields_)
        stream.get_schema = self._keep(fields["get_schema"](get_schema))
        stream.get_next = self._keep(fields["get_next"](get_next))
        stream.release = self._keep(_released(ArrowStream)(lambda pointer: self._gone(pointer, ArrowStream, "stream")))
        return self._capsule(stream, b"arrow_array_stream")


def texts(values):
    """Offsets and bytes."""
    encoded = [("" if value is None else value).encode() for value in values]
    return [np.cumsum([0, *map(len, encoded)]).astype(np.int32), np.frombuffer(b"".join(encoded) + b"\0", np.uint8)]


def bits(mask):
    return np.packbits(np.asarray(mask, bool), bitorder="little")


def arrow_columns(columns):
    there = np.array([ward is not None for ward in columns["ward"]])
    return {"ill": ("c", None, (columns["ill"] == "yes").astype(np.int8), ["no", "yes"]), "age": ("g", None, columns["age"], None),
            "ward": ("u", bits(there), list(columns["ward"]), None),
            "since": ("tdD", None, columns["since"].astype("datetime64[D]").astype(np.int32), None)}


@pytest.mark.parametrize("kind, batches", [(Producer, 1), (Streaming, 1), (Streaming, 7)])
def test_tables_of_another_library_are_handed_over(columns, kind, batches, quiet):
    producer = kind(arrow_columns(columns), batches)
    expected = fitted(columns)
    frame = tacit.Frame.table(producer, schema=SCHEMA)
    assert len(frame) == 200 and "array" not in producer.released  # nothing was copied: it is still needed
    assert tacit.fit(frame, method="output", epsilon=5, lam=0.01, seed=7).to_json() == expected.to_json()
    assert (expected.scores(producer) == expected.scores(columns)).all()
    del frame
    gc.collect()
    assert producer.released.count("array") == 2 * batches and producer.released.count("table") == 2


def test_a_type_that_is_not_taken_is_named(columns):
    made = arrow_columns(columns)
    made["age"] = ("d:10,2", None, columns["age"], None)
    with pytest.raises(tacit.InputError, match="column age has Arrow type 'd:10,2': convert it to numbers"):
        tacit.Frame.table(Producer(made))


# ---- frames that are wrong ----

STRICT = {"label": {"name": "relapse", "classes": ["no", "yes"]}, "missing": "error", "strict": True, "columns": [
    {"name": "age", "kind": "number", "low": 20, "high": 100}, {"name": "stage", "kind": "category", "levels": ["I", "II"]},
    {"name": "day", "kind": "number", "date": "days since 2020-01-01", "low": 0, "high": 4000}]}


@pytest.mark.parametrize("change, words", [
    ({"age": ["old"] * 40}, r"\(age\): 'old' is not a number.*correct"), ({"stage": None}, "no column 'stage' .*there are age, day, relapse"),
    ({"stage": ["IV"] * 40}, r"\(stage\): 'IV' is not one of I, II: correct the value, or the schema's list"),
    ({"age": [np.nan] * 40}, r"row 1, column 1 \(age\): a missing value.*complete-case"), ({"age": [50.0] * 39 + [np.inf]}, r"row 40, column 1 \(age\).*finite"),
    ({name: [] for name in ("age", "stage", "day", "relapse")}, "no rows: give"), ({name: None for name in ("age", "stage", "day", "relapse")}, "no columns"),
    ({"day": ["31/12/2024"] * 40}, r"\(day\): '31/12/2024' is not a date: with slashes"), ({"day": [5.5] * 40}, r"\(day\): '5.5' is not a date; write"),
    ({"day": np.array(["9999999-01-01"] * 40, "datetime64[D]")}, "'day' has 9999999-01-01 in row 1: dates are of the years"),
    ({"stage": np.array(["I", {}] * 20, object)}, "'stage' has {} in row 2: convert"), ({"age": [1j] * 40}, "'age' is of type complex128: convert"),
    ({"age": np.ones(40, "timedelta64[D]")}, "'age' is of type timedelta64.*convert"), ({"relapse": [None] + ["no"] * 39}, r"\(relapse\): a missing value"),
    ({"relapse": ["maybe"] * 40}, r"\(relapse\): 'maybe' is not one of no, yes"), ({"stage": list(range(40))}, r"\(stage\): '0' is not one of"),
    ({"stage": ["I"]}, "'stage' has 1 values, and 'age' has 40"), ({"age": np.zeros((40, 2))}, "'age' has 2 dimensions: give each"),
    ({"stage": ["I\0I"] * 40}, "'stage' has the text .* with a NUL"), ({"stage": ["\ud800"] * 40}, "'stage' has a text that is not Unicode")])
def test_errors_of_frames_name_the_column_and_the_remedy(change, words):
    good = {"age": np.linspace(30, 70, 40), "stage": ["I", "II"] * 20, "day": np.datetime64("2024-01-01") + np.arange(40), "relapse": ["no", "yes"] * 20}
    assert len(tacit.Frame.table(good, schema=STRICT)) == 40
    with pytest.raises(tacit.TacitError, match=words):
        tacit.Frame.table({name: values for name, values in {**good, **change}.items() if values is not None}, schema=STRICT)
