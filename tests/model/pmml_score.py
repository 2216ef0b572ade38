#!/usr/bin/env python3
"""Score rows with a PMML 4.4 document, from what the standard says of its elements and from nothing else.

    tests/model/pmml_score.py MODEL.pmml ROWS.csv

It reads what it needs of the standard: data dictionary, mining schema, local transformations, outputs, regression models and
neural networks. Whatever it does not know it refuses, so that a document cannot pass by being misread. `check` compares the
document with the schema's order of elements, required attributes and enumerations.
"""
import csv
import math
import sys
import xml.etree.ElementTree as ElementTree

SPACE = "{http://www.dmg.org/PMML-4_4}"


class Wrong(Exception):
    """The document breaks the standard, or uses a part of it that is not known here."""


class Invalid(Exception):
    """The row has no result: a value is invalid or missing and the document says returnInvalid."""


# ---- the schema's content models: children in order with their least and most numbers, required and other attributes ----

MANY = float("inf")
EXPRESSIONS = ("Constant", "FieldRef", "NormDiscrete", "Apply")
NUMBER, COUNT, NAME = float, int, str
SCHEMA = {
    "PMML": ([("Header", 1, 1), ("DataDictionary", 1, 1), (("RegressionModel", "NeuralNetwork"), 0, MANY)],
             {"version": {"4.4"}}, {}),
    "Header": ([("Extension", 0, MANY), ("Application", 0, 1)], {}, {"copyright": NAME, "description": NAME}),
    "Extension": ([], {}, {"extender": NAME, "name": NAME, "value": NAME}),
    "Application": ([], {"name": NAME}, {"version": NAME}),
    "DataDictionary": ([("DataField", 1, MANY)], {}, {"numberOfFields": COUNT}),
    "DataField": ([("Value", 0, MANY)],
                  {"name": NAME, "optype": {"categorical", "continuous"}, "dataType": {"string", "double"}},
                  {"displayName": NAME}),
    "Value": ([], {"value": NAME}, {}),
    "MiningSchema": ([("MiningField", 1, MANY)], {}, {}),
    "MiningField": ([], {"name": NAME},
                    {"usageType": {"active", "target"}, "outliers": {"asIs", "asExtremeValues"}, "lowValue": NUMBER,
                     "highValue": NUMBER, "missingValueTreatment": {"returnInvalid"},
                     "invalidValueTreatment": {"returnInvalid", "asMissing", "asIs"}}),
    "Output": ([("OutputField", 1, MANY)], {}, {}),
    "OutputField": ([(EXPRESSIONS, 0, 1)], {"name": NAME, "dataType": {"string", "double"}},
                    {"optype": {"categorical", "continuous"}, "value": NAME,
                     "feature": {"predictedValue", "probability", "transformedValue"}}),
    "LocalTransformations": ([("DerivedField", 0, MANY)], {}, {}),
    "DerivedField": ([(EXPRESSIONS, 1, 1)], {"optype": {"continuous"}, "dataType": {"double"}},
                     {"name": NAME, "displayName": NAME}),
    "Constant": ([], {}, {"dataType": {"string", "double"}}),
    "FieldRef": ([], {"field": NAME}, {"mapMissingTo": NAME}),
    "NormDiscrete": ([], {"field": NAME, "value": NAME}, {"mapMissingTo": NUMBER}),
    "Apply": ([(EXPRESSIONS, 1, MANY)], {"function": NAME}, {"mapMissingTo": NAME}),
    "RegressionModel": ([("MiningSchema", 1, 1), ("Output", 0, 1), ("LocalTransformations", 0, 1),
                         ("RegressionTable", 1, MANY)], {"functionName": {"classification", "regression"}},
                        {"modelName": NAME, "algorithmName": NAME,
                         "normalizationMethod": {"none", "softmax", "exp"}}),
    "RegressionTable": ([("NumericPredictor", 0, MANY)], {"intercept": NUMBER}, {"targetCategory": NAME}),
    "NumericPredictor": ([], {"name": NAME, "coefficient": NUMBER}, {}),
    "NeuralNetwork": ([("MiningSchema", 1, 1), ("Output", 0, 1), ("LocalTransformations", 0, 1), ("NeuralInputs", 1, 1),
                       ("NeuralLayer", 1, MANY), ("NeuralOutputs", 0, 1)],
                      {"functionName": {"classification"}, "activationFunction": {"tanh", "logistic", "rectifier"}},
                      {"modelName": NAME, "algorithmName": NAME}),
    "NeuralInputs": ([("NeuralInput", 1, MANY)], {}, {"numberOfInputs": COUNT}),
    "NeuralInput": ([("DerivedField", 1, 1)], {"id": NAME}, {}),
    "NeuralLayer": ([("Neuron", 1, MANY)], {},
                    {"numberOfNeurons": COUNT, "activationFunction": {"identity"}, "normalizationMethod": {"softmax"}}),
    "Neuron": ([("Con", 1, MANY)], {"id": NAME}, {"bias": NUMBER}),
    "Con": ([], {"from": NAME, "weight": NUMBER}, {}),
    "NeuralOutputs": ([("NeuralOutput", 1, MANY)], {}, {"numberOfOutputs": COUNT}),
    "NeuralOutput": ([("DerivedField", 1, 1)], {"outputNeuron": NAME}, {}),
}


def tag(element):
    if not element.tag.startswith(SPACE):
        raise Wrong(f"{element.tag} is not of PMML 4.4")
    return element.tag[len(SPACE):]


def find(element, name):
    return element.findall(SPACE + name)


def check_attributes(element):
    _, required, others = SCHEMA[tag(element)]
    for name in required:
        if name not in element.attrib:
            raise Wrong(f"{tag(element)} has no {name}")
    for name, value in element.attrib.items():
        kind = required.get(name, others.get(name))
        if kind is None:
            raise Wrong(f"{tag(element)} has an attribute {name}")
        if isinstance(kind, set) and value not in kind:
            raise Wrong(f"{tag(element)}: {name} is '{value}'")
        if kind in (NUMBER, COUNT) and not math.isfinite(kind(value)):
            raise Wrong(f"{tag(element)}: {name} is '{value}'")


def check(element):
    """Every element known, in its place, with the attributes that belong to it."""
    if tag(element) not in SCHEMA:
        raise Wrong(f"{tag(element)} is not known here")
    check_attributes(element)
    children = [tag(child) for child in element]
    for names, least, most in SCHEMA[tag(element)][0]:
        names = names if isinstance(names, tuple) else (names,)
        run = 0
        while children and children[0] in names:
            run += 1
            children.pop(0)
        if not least <= run <= most:
            raise Wrong(f"{tag(element)} has {run} of {names}")
    if children:
        raise Wrong(f"{tag(element)} has {children[0]} where that does not belong")
    if element.text and element.text.strip() and tag(element) != "Constant":
        raise Wrong(f"{tag(element)} holds text")
    for child in element:
        check(child)


# ---- expressions: functions of the fields of a row, None standing for a missing value ----

def exponential(x):
    return math.exp(x) if x < 709 else math.inf


FUNCTIONS = {
    "+": (2, lambda a, b: a + b), "-": (2, lambda a, b: a - b), "*": (2, lambda a, b: a * b), "/": (2, lambda a, b: a / b),
    "sqrt": (1, math.sqrt), "exp": (1, exponential), "greaterThan": (2, lambda a, b: a > b), "lessThan": (2, lambda a, b: a < b),
    "ln": (1, math.log), "pow": (2, math.pow), "abs": (1, abs), "equal": (2, lambda a, b: a == b),
}
AGGREGATES = {"sum": math.fsum, "max": max, "min": min}  # of those values that are not missing


def constant(element):
    text = element.text or ""
    value = text if element.get("dataType") == "string" else float(text)
    return lambda row: value


def field_ref(element):
    field, missing = element.get("field"), element.get("mapMissingTo")
    missing = float(missing) if missing is not None else None

    def value(row):
        return missing if row[field] is None else row[field]
    return value


def norm_discrete(element):
    field, wanted, missing = element.get("field"), element.get("value"), element.get("mapMissingTo")
    missing = float(missing) if missing is not None else None

    def value(row):
        return missing if row[field] is None else float(row[field] == wanted)
    return value


def apply(element):
    name, missing = element.get("function"), element.get("mapMissingTo")
    missing = float(missing) if missing is not None else None
    operands = [expression(child) for child in element]
    if name in AGGREGATES:
        return lambda row: AGGREGATES[name]([value for value in (f(row) for f in operands) if value is not None])
    if name == "isMissing" and len(operands) == 1:
        return lambda row: operands[0](row) is None
    if name == "if":
        if len(operands) != 3:
            raise Wrong("if has a condition and two values")
        return lambda row: operands[1](row) if operands[0](row) else operands[2](row)
    if name not in FUNCTIONS or FUNCTIONS[name][0] != len(operands):
        raise Wrong(f"the function {name} of {len(operands)} is not known here")
    function = FUNCTIONS[name][1]

    def value(row):
        values = [f(row) for f in operands]
        return missing if None in values else function(*values)
    return value


def expression(element):
    return {"Constant": constant, "FieldRef": field_ref, "NormDiscrete": norm_discrete, "Apply": apply}[tag(element)](element)


# ---- models ----

ACTIVATIONS = {"tanh": math.tanh, "logistic": lambda z: 1 / (1 + exponential(-z)), "rectifier": lambda z: max(0.0, z),
               "identity": lambda z: z}


def softmax(values):
    largest = max(values)
    shares = [math.exp(value - largest) for value in values]
    return [share / math.fsum(shares) for share in shares]


class Document:
    def __init__(self, source):
        root = ElementTree.parse(source).getroot()
        check(root)
        self.facts = {fact.get("name"): fact.get("value") for fact in root.iter(SPACE + "Extension")}
        self.description = find(root, "Header")[0].get("description")
        self.fields = {}
        for field in root.iter(SPACE + "DataField"):
            if field.get("name") in self.fields:
                raise Wrong(f"the field {field.get('name')} appears twice")
            self.fields[field.get("name")] = (field.get("dataType"), [value.get("value") for value in field])
        if int(find(root, "DataDictionary")[0].get("numberOfFields")) != len(self.fields):
            raise Wrong("numberOfFields is not the number of fields")
        self.model = [child for child in root if tag(child) in ("RegressionModel", "NeuralNetwork")][0]
        self.mining = {field.get("name"): field for field in find(self.model, "MiningSchema")[0]}
        self.derived = [(field.get("name"), expression(field[0])) for field in self.model.iter(SPACE + "LocalTransformations")
                        for field in field]
        names = list(self.mining) + [name for name, _ in self.derived]
        if len(set(names)) != len(names) or not set(self.mining) <= set(self.fields):
            raise Wrong("two fields have one name, or a mining field is no data field")
        self.function = self.model.get("functionName")
        self.score = self.network() if tag(self.model) == "NeuralNetwork" else self.regression()
        self.output = [(field, expression(field[0]) if len(field) else None)
                       for output in find(self.model, "Output") for field in output]

    def value(self, name, raw):
        """A value as the mining schema lets the model see it."""
        field, (kind, allowed) = self.mining[name], self.fields[name]
        if raw is None:
            if field.get("missingValueTreatment") == "returnInvalid":
                raise Invalid(name)
            return None
        value = raw
        if kind == "double":
            try:
                value = float(raw)
            except ValueError:
                raise Invalid(name) from None
        elif allowed and raw not in allowed:
            if field.get("invalidValueTreatment", "returnInvalid") == "returnInvalid":
                raise Invalid(name)
            return raw if field.get("invalidValueTreatment") == "asIs" else None
        if field.get("outliers") == "asExtremeValues":
            value = min(max(value, float(field.get("lowValue"))), float(field.get("highValue")))
        return value

    def regression(self):
        tables = []
        for table in find(self.model, "RegressionTable"):
            tables.append((table.get("targetCategory"), float(table.get("intercept")),
                           [(term.get("name"), float(term.get("coefficient"))) for term in table]))
        link = self.model.get("normalizationMethod", "none")

        def scores(row):
            return [intercept + math.fsum(row[name] * weight for name, weight in terms) for _, intercept, terms in tables]
        if self.function == "regression":
            if len(tables) != 1 or link not in ("none", "exp"):
                raise Wrong("a regression has one table, and no or an exponential link")
            return lambda row: exponential(scores(row)[0]) if link == "exp" else scores(row)[0]
        categories = [category for category, _, _ in tables]

        if link != "softmax":
            raise Wrong(f"a classification with the link {link}")
        return lambda row: dict(zip(categories, softmax(scores(row))))

    def network(self):
        inputs = [(unit.get("id"), expression(unit[0][0])) for unit in find(self.model, "NeuralInputs")[0]]
        layers = []
        for layer in find(self.model, "NeuralLayer"):
            activation = layer.get("activationFunction", self.model.get("activationFunction"))
            neurons = [(unit.get("id"), float(unit.get("bias", 0)),
                        [(con.get("from"), float(con.get("weight"))) for con in unit]) for unit in layer]
            if int(layer.get("numberOfNeurons")) != len(neurons):
                raise Wrong("numberOfNeurons is not the number of neurons")
            layers.append((ACTIVATIONS[activation], layer.get("normalizationMethod"), neurons))
        outputs = [(unit.get("outputNeuron"), unit[0][0].get("value")) for unit in find(self.model, "NeuralOutputs")[0]]

        def probabilities(row):
            units = {name: value(row) for name, value in inputs}
            for activation, normalization, neurons in layers:
                values = [activation(bias + math.fsum(units[source] * weight for source, weight in terms))
                          for _, bias, terms in neurons]
                if normalization == "softmax":
                    values = softmax(values)
                units.update(zip((name for name, _, _ in neurons), values))
            return {category: units[name] for name, category in outputs}
        return probabilities

    def predict(self, raw):
        """The output fields of one row, given as {field: value}; a missing value is None or left out. Raises Invalid."""
        row = {name: self.value(name, raw.get(name)) for name, field in self.mining.items() if field.get("usageType") != "target"}
        for name, value in self.derived:
            row[name] = value(row)
        result = self.score(row)
        told = {}
        for field, value in self.output:
            feature, name = field.get("feature"), field.get("name")
            if feature == "transformedValue":
                told[name] = value({**row, **told})
            elif feature == "probability":
                told[name] = result[field.get("value")]
            else:
                told[name] = max(result, key=result.get) if isinstance(result, dict) else result
        return told


def main():
    document = Document(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            print(document.predict({name: value or None for name, value in row.items()}))


if __name__ == "__main__":
    main()
