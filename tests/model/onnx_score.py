#!/usr/bin/env python3
"""Score rows with an ONNX file, from what the ONNX documents say of its operators and from nothing else: no package is needed.

It knows the operators that tabular models are made of, in opset 13 and ai.onnx.ml 2, and refuses any other, so that a file cannot
pass by being misread. onnxruntime is the authority (tests/cli/test_export_onnxruntime.py); this one runs everywhere.
"""
import math
import struct

DOUBLE, INTEGER, TEXT = 11, 7, 8


class Wrong(Exception):
    """The file breaks the format, or uses a part of it that is not known here."""


# ---- the file: protobuf's wire format, fields by their numbers ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value - (1 << 64) if value >= 1 << 63 else value, at


def fields(data):
    """{number: [value, ...]} of a message."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            raise Wrong(f"wire type {key & 7}")
        found.setdefault(key >> 3, []).append(value)
    return found


def text(message, number):
    return message.get(number, [b""])[0].decode()


def integers(values):
    """Repeated integers, packed or not."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(number)
    return numbers


class Tensor:
    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), list(values)
        if math.prod(self.shape) != len(self.values):
            raise Wrong(f"{len(self.values)} values in the shape {self.shape}")


def constant(message):
    kind = message[2][0]
    if kind == DOUBLE:
        values = [x for part in message.get(10, []) for x in struct.unpack(f"<{len(part) // 8}d", part)]
    elif kind == INTEGER:
        values = integers(message.get(7, []))
    elif kind == TEXT:
        values = [value.decode() for value in message.get(6, [])]
    else:
        raise Wrong(f"a constant of type {kind}")
    return Tensor(integers(message.get(1, [])), values)


def attribute(message):
    kind = message[20][0]
    if kind == 2:
        return message[3][0]
    if kind == 7:
        return integers(message.get(8, []))
    if kind == 8:
        return [value.decode() for value in message.get(9, [])]
    raise Wrong(f"an attribute of type {kind}")


# ---- operators ----

def broadcast(function, *tensors):
    """Element by element, shapes aligned from the right."""
    rank = max(len(tensor.shape) for tensor in tensors)
    shapes = [(1,) * (rank - len(tensor.shape)) + tensor.shape for tensor in tensors]
    shape = tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*shapes))
    if any(size not in (1, whole) for own in shapes for size, whole in zip(own, shape)):
        raise Wrong(f"the shapes {shapes} do not fit")
    places = []
    for own in shapes:
        step, steps = 1, []
        for size in reversed(own):
            steps.append(0 if size == 1 else step)
            step *= size
        steps.reverse()
        at = [0]
        for size, stride in zip(shape, steps):
            at = [start + k * stride for start in at for k in range(size)]
        places.append(at)
    return Tensor(shape, [function(*(tensor.values[at[i]] for tensor, at in zip(tensors, places)))
                          for i in range(math.prod(shape))])


def rows_of(tensor):
    count, width = tensor.shape
    return [tensor.values[i * width:(i + 1) * width] for i in range(count)]


def from_rows(rows, width):
    return Tensor((len(rows), width), [value for row in rows for value in row])


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def softmax(row):
    shares = [math.exp(value - max(row)) for value in row]
    return [share / math.fsum(shares) for share in shares]


def concat(inputs, settings):
    if settings["axis"] != 1:
        raise Wrong("Concat of rows")
    return from_rows([sum(parts, []) for parts in zip(*map(rows_of, inputs))], sum(tensor.shape[1] for tensor in inputs))


def gemm(inputs, settings):
    if settings != {"transB": 1}:
        raise Wrong(f"Gemm with {settings}")
    weights = rows_of(inputs[1])
    product = from_rows([[math.fsum(a * b for a, b in zip(row, unit)) for unit in weights] for row in rows_of(inputs[0])], len(weights))
    return broadcast(lambda a, b: a + b, product, inputs[2]) if len(inputs) > 2 else product


def gather(inputs, settings):
    data, places = inputs
    if settings.get("axis", 0) == 0 and len(data.shape) == 1:
        return Tensor(places.shape, [data.values[at] for at in places.values])
    if settings.get("axis", 0) != 1:
        raise Wrong("Gather of rows")
    return from_rows([[row[at] for at in places.values] for row in rows_of(data)], len(places.values))


def pad(inputs, settings):
    rows, (top, left, bottom, right), value = rows_of(inputs[0]), inputs[1].values, inputs[2].values[0]
    if top or left or bottom:
        raise Wrong("Pad elsewhere than behind")
    return from_rows([row + [value] * right for row in rows], inputs[0].shape[1] + right)


def reduce_sum(inputs, settings):
    if inputs[1].values != [1] or settings:
        raise Wrong("ReduceSum but of a row")
    return Tensor((inputs[0].shape[0], 1), [math.fsum(row) for row in rows_of(inputs[0])])


def label_encoder(inputs, settings):
    codes = dict(zip(settings["keys_strings"], settings["values_int64s"]))
    return Tensor(inputs[0].shape, [codes.get(value, settings["default_int64"]) for value in inputs[0].values])


def arg_max(inputs, settings):
    if settings != {"axis": 1, "keepdims": 0}:
        raise Wrong(f"ArgMax with {settings}")
    return Tensor(inputs[0].shape[:1], [max(range(len(row)), key=row.__getitem__) for row in rows_of(inputs[0])])


def cast(inputs, settings):
    return Tensor(inputs[0].shape, map({DOUBLE: float, INTEGER: int}[settings["to"]], inputs[0].values))


def reshape(inputs, settings):
    first, *rest = inputs[1].values
    if first != -1 or any(length <= 0 for length in rest):
        raise Wrong(f"Reshape to {inputs[1].values}")
    return Tensor((len(inputs[0].values) // math.prod(rest), *rest), inputs[0].values)


def reduce_max(inputs, settings):
    if settings != {"axes": [2], "keepdims": 0}:
        raise Wrong(f"ReduceMax with {settings}")
    count, windows, places = inputs[0].shape
    values = inputs[0].values
    return Tensor((count, windows), [max(values[at * places:(at + 1) * places]) for at in range(count * windows)])


def row_softmax(inputs, settings):
    if settings != {"axis": 1}:
        raise Wrong("Softmax but of a row")
    return from_rows(list(map(softmax, rows_of(inputs[0]))), inputs[0].shape[1])


def smaller(a, b):
    return a if a < b or math.isnan(a) else b


def larger(a, b):
    return a if a > b or math.isnan(a) else b


ELEMENTS = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "Div": lambda a, b: a / b, "Min": smaller,
    "Max": larger, "Greater": lambda a, b: a > b, "Equal": lambda a, b: a == b, "Where": lambda condition, a, b: a if condition else b,
    "Neg": lambda a: -a, "Log": math.log, "Pow": math.pow, "Abs": abs, "Sqrt": math.sqrt, "Exp": math.exp, "Tanh": math.tanh, "Sigmoid": sigmoid, "IsNaN": math.isnan,
    "Sign": lambda a: float((a > 0) - (a < 0)), "Identity": lambda a: a,
}
OTHERS = {"Concat": concat, "Gemm": gemm, "Gather": gather, "Pad": pad, "ReduceSum": reduce_sum, "ReduceMax": reduce_max, "ArgMax": arg_max, "Cast": cast,
          "Reshape": reshape, "Softmax": row_softmax}


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            model = fields(file.read())
        graph = fields(model[7][0])
        self.words = text(model, 6)
        self.facts = {text(fact, 1): text(fact, 2) for fact in map(fields, model.get(14, []))}
        self.opsets = {text(entry, 1): entry[2][0] for entry in map(fields, model[8])}
        if self.opsets != {"": 13, "ai.onnx.ml": 2}:
            raise Wrong(f"operators of {self.opsets}")
        self.nodes = list(map(fields, graph[1]))
        self.constants = {text(tensor, 8): constant(tensor) for tensor in map(fields, graph.get(5, []))}
        self.inputs = [text(value, 1) for value in map(fields, graph[11])]
        self.outputs = [text(value, 1) for value in map(fields, graph[12])]

    def apply(self, node, values):
        name, domain = text(node, 4), text(node, 7)
        inputs = [values[source.decode()] for source in node[1]]
        settings = {text(entry, 1): attribute(entry) for entry in map(fields, node.get(5, []))}
        if domain == "ai.onnx.ml" and name == "LabelEncoder":
            return label_encoder(inputs, settings)
        if domain == "" and name in ELEMENTS and not settings:
            return broadcast(ELEMENTS[name], *inputs)
        if domain == "" and name in OTHERS:
            return OTHERS[name](inputs, settings)
        raise Wrong(f"the operator {domain} {name} with {settings} is not known here")

    def run(self, feeds):
        """{output: Tensor} for {input: Tensor}."""
        if sorted(feeds) != sorted(self.inputs):
            raise Wrong(f"inputs {sorted(feeds)}, wanted {sorted(self.inputs)}")
        values = {**self.constants, **feeds}
        for node in self.nodes:
            (made,) = node[2]
            if made.decode() in values:
                raise Wrong(f"{made.decode()} is made twice")
            values[made.decode()] = self.apply(node, values)
        return {name: values[name] for name in self.outputs}
