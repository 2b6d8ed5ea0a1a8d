"""widthwise.onnx: quantisers in graphs, bit for bit the simulator's wherever they run."""

import random

import numpy as np
import pytest
import widthwise as ww
from onnx_here import (
    LONG,
    NEEDED,
    SIX,
    check_bits,
    differ,
    in_onnxruntime,
    model_of,
    onnx,
    quantiser,
    values,
    wanted,
    wo,
)

if onnx is not None:
    from onnx import TensorProto, helper, numpy_helper

pytestmark = NEEDED

MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"]
# Every way of special codes, of subnormals, of overflow; fixed point; what is searched in tables.
KINDS = [
    "e4m3fn", "e4m3fnuz", "e4m3b11fnuz", "e5m2", "e2m1fn", "e3m2fn", "bfloat16", "tf32", "e8m22",
    "e8m23", "e4m3fn;overflow=satfinite", "e5m2;overflow=max", "e5m2;overflow=nan", "e4m3;inf=top",
    "e5m3;sub=no", "e5m10;ftz", "e5m10;daz", "e8m7;sub=no", "e8m12;ftz", "e5m10;bias=-20",
    "e4m8;bias=100", "e5m4;zero=no;sub=no", "ue5m3", "ue8m10", "ue4m3fn", "e8m0fnu", "binary8p1",
    "binary8p3", "binary8p4uf", "fixed8.4", "int8", "uint8", "fixed4.-2", "fixed24.12",
    "ufixed12.3", "fixed6.30", "int8;overflow=symmetric", "table(nf4)", "table(-1,0,1)",
    "table(0.5,nan,3)", "e4m0;nan=none", "e3m0;nan=all_ones", "posit8", "posit6es0", "posit10es1",
    "int8;overflow=wrap", "fixed24.30;overflow=wrap", "ufixed12.3;overflow=wrap",
    "fixed3.0;overflow=wrap_sm", "fixed12.-4;overflow=wrap_sm", "fixed8.4;overflow=keep_sign",
    "ufixed6.2;overflow=keep_sign", "int8;overflow=zero", "ufixed12.3;overflow=zero",
]  # fmt: skip


@pytest.mark.parametrize("text", SIX)
def test_six_formats_have_the_same_bits_everywhere(text):
    """onnx.reference, stock onnxruntime and without functions, zeros' signs included."""
    f = ww.Format(text)
    x = values(1 << 21 if LONG else 1 << 14, f)
    check_bits(quantiser(text, standard=False), x, wanted(x, f))


@pytest.mark.parametrize("text", KINDS)
def test_every_kind_of_format_in_every_rounding(text):
    """In the reference by two modes, for it is slow; without --long four modes a format."""
    f, n = ww.Format(text), 1 << 17 if LONG else 1 << 9
    at = KINDS.index(text)
    modes = MODES if LONG else ["rne", *(MODES[1 + (at + k) % 10] for k in (0, 3, 7))]
    for i, mode in enumerate(modes):
        if mode == "odd" and f.system == "table":
            continue
        x = values(n, f, seed=i)
        runtimes = ("onnxruntime", "reference") if mode in ("rne", "rdn") else ("onnxruntime",)
        model = quantiser({"format": text, "rounding": mode}, standard=False)
        check_bits(model, x, wanted(x, f, mode), *runtimes)


@pytest.mark.parametrize("seed", range(100 if LONG else 12))
def test_drawn_formats(seed):
    rng = random.Random(seed)
    exponent, fraction = rng.randint(2, 8), rng.randint(1, 14)
    text = f"{rng.choice(['', '', 'u'])}e{exponent}m{fraction}"
    text += rng.choice(["", f";bias={(1 << exponent - 1) - 1 + rng.randint(-4, 4)}"])
    text += rng.choice(["", ";nan=all_ones", ";nan=none", ";inf=no"])
    text += rng.choice(["", ";sub=no", ";ftz", ";daz"])
    text += rng.choice(["", ";overflow=max", ";overflow=satfinite", ";overflow=nan"])
    f, mode = ww.Format(text), rng.choice(MODES)
    x = values(1 << 12, f, seed)
    try:
        model = quantiser({"format": text, "rounding": mode}, standard=False)
    except ValueError as why:
        assert "binary32" in str(why) and (f.emax > 127 or f.least_digit < -149), text
        return
    check_bits(model, x, wanted(x, f, mode), "onnxruntime")


def test_a_format_that_graphs_cannot_round_to_is_refused_with_a_way_out():
    for how, rounding, message in [
        ("e5m60", "rne", "e5m60 has numbers that binary32, .* does not hold; take a narrower"),
        ("posit32", "rne", "posit32es2 has numbers that binary32"),
        ("takum8", "rne", "takum8 has numbers that binary32"),
        ("posit24", "rne", "has 24 bits: of posits, .* graphs search tables, up to 16 bits"),
        ("ufixed25.2;overflow=wrap", "rne", "fixed25.2;overflow=wrap has numbers that binary32"),
        ("e4m3", "sr8", "rounding = 'sr8': a graph has no random bits; take one of 'rne'"),
        ("e4m3", "up", "rounding = 'up': there is no such mode; take one of 'rne'"),
        ("affine(uint8)", "rne", "scales of symmetric codes.*'scale': 0.02, 'zero_point': 128"),
        ("affine(int8,symmetric)", "rtz", "rounding = 'rtz'; graphs round these by 'rne'"),
        ("nvfp4", "rtz", "rounding = 'rtz', and a quotient of blocks may underflow"),
        ("block(e4m3fn,4x4,binary32)", "rne", "of 'x': .* take 'mxfp8_e4m3', 'nvfp4', 'bfp"),
        ("block(bfloat16,16,ue4m3fn)", "rne", "of 'x': .* take 'mxfp8_e4m3'"),
        ("mxfp4;scale=ceil", "rne", "graphs find scales by the rules floor"),
        ("mxfp4", "rup", "rounding = 'rup', and a quotient of blocks may underflow"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            quantiser({"format": how, "rounding": rounding})


# --- The standard's types -------------------------------------------------------------------------

STANDARD = [
    ("int8", 10), ("uint8", 10), ("fixed8.4", 10), ("int16", 21), ("uint16", 21), ("int4", 21),
    ("uint4", 21), ("fixed4.2", 21), ("int2", 25), ("uint2", 25), ("e4m3fn", 19), ("e5m2", 19),
    ("e4m3fnuz", 19), ("e5m2fnuz", 19), ("e4m3fn;overflow=satfinite", 19),
    ("e5m2;overflow=satfinite", 19), ("e4m3fnuz;overflow=satfinite", 19),
]  # fmt: skip


@pytest.mark.parametrize("text, opset", STANDARD)
def test_the_standards_types_are_taken_and_have_our_bits(text, opset):
    f, opset = ww.Format(text), max(opset, 19)  # the reference has no earlier ones
    x = values(1 << 21 if LONG else 1 << 12, f)
    x = x if f.has_nan else x[~np.isnan(x)]
    model = quantiser(text, opset)
    operators = [node.op_type for node in model.graph.node]
    assert operators[-3:-1] == ["QuantizeLinear", "DequantizeLinear"] and not model.functions
    check_bits(model, x, wanted(x, f), "onnxruntime", "reference")


@pytest.mark.parametrize("text, opset", STANDARD)
@pytest.mark.parametrize("before", ["Relu", "Clip"])
def test_what_onnxruntime_fuses_with_quantisers_stays_what_it_is(before, text, opset):
    """Of floats it takes a Relu away; with a Clip it fails at codes of 4 bits."""
    ends = [numpy_helper.from_array(np.float32(x), name) for name, x in (("lo", -1), ("hi", 3))]
    given = ["x", "lo", "hi"] if before == "Clip" else ["x"]
    nodes = [helper.make_node(before, given, ["r"]), helper.make_node("Identity", ["r"], ["y"])]
    plain = model_of(nodes, ["n"], ends if before == "Clip" else (), opset=max(opset, 16))
    x = np.linspace(-4, 4, 1001, dtype=np.float32)
    want = wanted(x.clip(-1, 3) if before == "Clip" else np.maximum(x, 0), ww.Format(text))
    model = wo.quantize_model(plain, {"Identity": {"input": text}})
    assert (in_onnxruntime(model, x) == want).all()


@pytest.mark.parametrize("text, opset", [("int4", 20), ("int2", 24), ("e4m3fn", 18), ("e5m3", 21)])
def test_where_the_opset_has_no_type_our_node_is_taken(text, opset):
    model = quantiser(text, opset)
    assert [node.op_type for node in model.graph.node] == ["Quantize", "Identity"]
    x = values(1 << 10, ww.Format(text))
    check_bits(model, x, wanted(x, ww.Format(text)))


def test_other_roundings_are_not_the_standards():
    assert len(quantiser({"format": "int8", "rounding": "rtz"}).functions) == 1


# --- Layers and weights ---------------------------------------------------------------------------

WEIGHT = np.random.default_rng(2).normal(size=(70, 5)).astype(np.float32)
WEIGHTS = [
    ("int8", "DequantizeLinear", None), ("int4", "DequantizeLinear", None),
    ("e4m3fn", "DequantizeLinear", None), ("e5m2", "DequantizeLinear", None),
    ("e3m4", "Quantize", None), ("posit8", "QuantizeTable9", None),
    ("affine(int8,symmetric,channel)", "DequantizeLinear", 1),
    ("affine(uint8)", "DequantizeLinear", None),
    ("affine(int5,symmetric)", "DequantizeLinear", None),
    ("affine(uint4,asymmetric,32)", "DequantizeLinear", 0),
    ("affine(int8,symmetric,4x5)", "DequantizeLinear", None),
    ("mxfp8_e4m3", "DequantizeLinear", 0), ("mxint8", "DequantizeLinear", 0),
    ("bfp(8,0,e8)", "DequantizeLinear", 0), ("mxfp4", "Dequantize", 0), ("nvfp4", "Dequantize", 0),
    ("block(e4m3fn,7x5,binary32)", "Dequantize", None),
    ("block(table(nf4),14,binary32)", "Dequantize", 0),
    ("block(e4m3fn,all,binary32)", "Dequantize", None),
]  # fmt: skip


def contained(x, text, axis):
    """As the simulator has it."""
    if text.startswith("affine"):
        return ww.affine(x, text, axis=axis)
    if text.startswith(("block", "bfp", "mx", "nv")):
        return ww.blocks(x, text, axis=-1 if axis is None else axis)
    return ww.array(x, text)


def numbers(x):
    """Of a container, in binary32."""
    return x.dequantise() if isinstance(x, ww.Affine) else x.to_float64().astype(np.float32)


def product(how, opset=21):
    tensors = [numpy_helper.from_array(WEIGHT, "w")]
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")
    plain = model_of([node], ["n", 70], tensors, ["n", 5], opset)
    return wo.quantize_model(plain, {"fc": how})


@pytest.mark.parametrize("text, operator, axis", WEIGHTS)
def test_weights_become_codes_and_come_back(text, operator, axis):
    model = product({"weight": text})
    assert model.graph.node[0].op_type == operator
    kept = contained(WEIGHT, text, axis)
    want = numbers(kept) + np.float32(0)  # sums lose the sign of zero
    eye = np.eye(70, dtype=np.float32)
    check_bits(model, eye, want)
    found = wo.load(model)
    assert list(found) == ["w"]
    again = found["w"]
    format = "affine(int8,symmetric,5)" if "4x5" in text else str(kept.format)  # tiles as rows
    assert type(again) is type(kept) and str(again.format) == format
    assert (np.asarray(again.to_float64()) == np.asarray(kept.to_float64())).all()
    if isinstance(kept, ww.Affine):
        assert (again.codes == kept.codes).all()
    elif isinstance(kept, ww.Blocks):
        assert (again.elements.bits == kept.elements.bits).all()
        assert (again.scales.bits == kept.scales.bits).all()
    else:
        assert (again.bits == kept.bits).all()


@pytest.mark.parametrize("plain, text", [
    ("affine(int8,symmetric,channel)", " AFFINE ( Int8 , symmetric , CHANNEL )"),
    ("affine(uint4,asymmetric,32)", "Affine(UINT4,Asymmetric, 32 ) "),
    ("mxfp8_e4m3", " MXFP8_E4M3 "),
    ("block(e4m3fn,7x5,binary32)", " Block(E4M3FN,7x5,binary32)"), ("e5m6", " E5M6 "),
    ("nvfp4", "NVFP4"), ("int8", "INT8"),
])  # fmt: skip
def test_case_and_blanks_of_a_text_change_nothing(plain, text):
    assert product({"weight": text}) == product({"weight": plain})
    if plain in ("mxfp8_e4m3", "e5m6", "int8"):
        assert product({"input": text}) == product({"input": plain})


@pytest.mark.parametrize("text", ["affine(int8,symmetric,channel)", "affine(uint4,asymmetric,32)"])
def test_onnxruntime_does_not_round_the_other_operand_of_a_products_codes(text):
    """It would, to 8 bits, in MatMulNBits: a node between them keeps it from that."""
    axis = 1 if "channel" in text else 0
    want = ww.affine(WEIGHT, text, axis=axis).dequantise()
    eye = np.eye(70, dtype=np.float32)
    model = product({"weight": text})
    assert [node.op_type for node in model.graph.node] == ["DequantizeLinear", "Max", "MatMul"]
    assert not differ(in_onnxruntime(model, eye), want).size
    unguarded = onnx.ModelProto()
    unguarded.CopyFrom(model)
    unguarded.graph.node[2].input[1] = unguarded.graph.node[0].output[0]
    del unguarded.graph.node[1]
    assert differ(in_onnxruntime(unguarded, eye), want).size  # else the node is there for nothing


def test_codes_of_both_operands_are_the_runtimes_to_take():
    both = {"input": {"format": "affine(uint8)", "scale": 0.02, "zero_point": 9}, "weight": "int8"}
    assert not [x for node in product(both).graph.node for x in node.input if "as_it_is" in x]


def test_a_unit_rounds_operands_and_results_and_says_that_its_sums_are_not_there():
    with pytest.warns(UserWarning, match="summed by the runtime, in binary32.*not by mac.e4m3fn"):
        model = product({"unit": "mac(e4m3fn, b=e5m2, sum=e5m10)"})
    eye = np.eye(70, dtype=np.float32)
    want = wanted(wanted(WEIGHT, ww.Format("e5m2")).reshape(-1) + np.float32(0), ww.Format("e5m10"))
    check_bits(model, eye, want)
    assert "e5m10" in [row[2] for row in wo.quantisers(model).rows]


def test_rules_take_operators_and_names_and_the_first_that_fits():
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="a/fc"),
        helper.make_node("MatMul", ["h", "v"], ["y"], name="b/fc"),
    ]
    eye = np.eye(4, dtype=np.float32)
    tensors = [numpy_helper.from_array(eye * n, name) for name, n in (("w", 1.1), ("v", 1.0))]
    plain = model_of(nodes, ["n", 4], tensors)
    before = plain.SerializeToString()
    made = wo.quantize_model(plain, {"b/*": None, "MatMul": {"weight": "e5m2"}})
    assert plain.SerializeToString() == before
    assert [n.op_type for n in made.graph.node] == ["DequantizeLinear", "MatMul", "MatMul"]
    assert in_onnxruntime(made, eye)[0, 0] == 1.0
    both = wo.quantize_model(plain, "e5m6")
    assert [n.op_type for n in both.graph.node].count("Quantize") == 4
    for rules, kind, message in [
        ({"c/*": "e5m6"}, ValueError, r"rules: 'c/\*' fits no node; there are 'a/fc', 'b/fc'"),
        ({"a/fc": {"weights": "e5m6"}}, TypeError, "weights: there are input, weight"),
        ({"a/fc": {"input": {"scale": 1}}}, TypeError, "format is wanted"),
        ([3], TypeError, r"rules: one is 3; \(which layers, how\) is wanted"),
        ([(int, "e5m6")], TypeError, "rules: int is no operator and no glob on names"),
        ({"a/fc": {"unit": "blackwell.mxfp8"}}, ValueError, "scales blocks; name its operands'"),
    ]:
        with pytest.raises(kind, match=message):
            wo.quantize_model(plain, rules)


def test_one_value_is_quantised_once_for_all_who_read_it():
    nodes = [helper.make_node("MatMul", ["x", "x"], ["y"], name="square")]
    made = wo.quantize_model(model_of(nodes, [4, 4]), "e5m6")
    assert [n.op_type for n in made.graph.node] == ["Quantize", "MatMul"]


def test_graphs_inside_of_nodes_are_rewritten_too():
    kind = TensorProto.FLOAT
    inner = [
        helper.make_graph(
            [helper.make_node("MatMul", ["x", name], [f"y_{name}"], name=f"fc_{name}")],
            name, [], [helper.make_tensor_value_info(f"y_{name}", kind, None)],
            [numpy_helper.from_array(WEIGHT * sign, name)],
        )
        for name, sign in (("yes", np.float32(1)), ("no", np.float32(-1)))
    ]  # fmt: skip
    condition = numpy_helper.from_array(np.array(True), "condition")
    branches = dict(zip(("then_branch", "else_branch"), inner, strict=True))
    choice = helper.make_node("If", ["condition"], ["y"], **branches)
    plain = model_of([choice], ["n", 70], [condition], ["n", 5])
    made = wo.quantize_model(plain, {"*": {"weight": "e5m6"}})
    want = wanted(WEIGHT, ww.Format("e5m6"))
    check_bits(made, np.eye(70, dtype=np.float32), want, "onnxruntime", "inlined")
    assert sorted(wo.load(made)) == ["condition", "no", "yes"]


def test_half_precision_goes_there_and_back_and_double_is_refused():
    for kind, dtype in ((TensorProto.FLOAT16, np.float16), (TensorProto.DOUBLE, np.float64)):
        plain = model_of([helper.make_node("Identity", ["x"], ["y"])], ["n"])
        for end in (plain.graph.input[0], plain.graph.output[0]):
            end.type.tensor_type.elem_type = kind
        if dtype == np.float64:
            with pytest.raises(ValueError, match="'x' holds DOUBLE, and quantisers take binary32"):
                wo.quantize_model(plain, {"Identity": {"input": "e5m6"}})
            continue
        made = wo.quantize_model(plain, {"Identity": {"input": "e4m5"}})
        with np.errstate(over="ignore"):
            x = values(2048).astype(np.float16)
        got = in_onnxruntime(made, x)
        assert got.dtype == dtype
        want = wanted(x.astype(np.float32), ww.Format("e4m5"))
        assert not differ(got.astype(np.float32), want).size
        with pytest.raises(ValueError, match="FLOAT16, which does not hold e6m9"):
            wo.quantize_model(plain, {"Identity": {"input": "e6m9"}})


def test_old_opsets_are_named_and_converted_where_one_is_asked_for():
    plain = model_of([helper.make_node("Identity", ["x"], ["y"])], ["n"], opset=13)
    with pytest.raises(ValueError, match="has opset 13; quantisers need 16.*pass opset=21"):
        wo.quantize_model(plain, {"Identity": {"input": "e5m6"}})
    made = wo.quantize_model(plain, {"Identity": {"input": "e5m6"}}, opset=21)
    assert made.opset_import[0].version == 21


def test_inlined_models_have_standard_operators_alone():
    made = quantiser("e5m6", inline=True)
    assert not made.functions and {x.domain for x in made.opset_import} <= {"", "ai.onnx"}
