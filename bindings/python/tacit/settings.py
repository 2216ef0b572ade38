"""The settings of each method as the arguments of a function, with their types and defaults.

What a function returns is `settings` for :func:`tacit.fit`, :func:`tacit.simulate`, :func:`tacit.explain` and :func:`tacit.audit`:
those that differ from the defaults. Written by script/docs --reference from the program's tables. Change the tables, not this file.

>>> import tacit
>>> tacit.settings.plr(loss="huber", width=0.25)
{'loss': 'huber', 'width': 0.25}
>>> tacit.settings.plr()
{}
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union

Text = Union[str, float, Sequence[Any]]  # a list is written with commas

__all__ = ["avg", "output", "plr", "gop", "pst_s", "pst_f", "pst_h", "vote", "soft", "soft_stat", "pate", "dpnewton", "dpgd", "dptree",
           "psgd", "dpiw", "dphtl", "dpsgd", "dpstgd", "estimate", "meta", "mixed", "cox", "dpcox", "survival", "survival_exact",
           "describe", "describe_exact", "evaluate", "evaluate_exact", "histogram", "consensus", "gossip", "extra", "newton",
           "privlogit_hessian", "privlogit_local", "cox_servers"]


def _changed(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What is not as the function has it by default."""
    defaults = (function.__kwdefaults__ or {}).values()
    return {name: value for (name, value), usual in zip(given.items(), defaults) if type(value) is not type(usual) or value != usual}


def avg(*, noise: Literal["coordinator", "party"] = "coordinator", unit: Literal["record", "party"] = "record",
        calibration: Literal["tight", "paper"] = "tight", law: Literal["gamma-norm", "laplace"] = "gamma-norm",
        loss: Literal["auto", "huber"] = "auto", width: float = 0.5) -> dict[str, Any]:
    """Settings of method avg: mean of the parties' local weights, with noise.

    noise
        who adds it: a coordinator entrusted with the local weights, or each party itself (more noise, no trust).
    unit
        whose replacement is hidden: one row, or all rows of a party.
    calibration
        of the noise: our constants, or the printed ones.
    law
        of the noise: one length in a random direction, or Laplace noise on each weight, as Pathak et al. printed it (more noise).
    loss
        what is minimised: by the label (logistic, softmax, clipped residuals of numbers and counts), or Huber's hinge for two classes.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    """
    return _changed(avg, {"noise": noise, "unit": unit, "calibration": calibration, "law": law, "loss": loss, "width": width})


def output(*, loss: Literal["logistic", "huber"] = "logistic", width: float = 0.5,
           calibration: Literal["tight", "paper"] = "tight") -> dict[str, Any]:
    """Settings of method output: output perturbation: a party's own model with noise on its weights.

    loss
        what is minimised: the logistic loss (softmax for more than two classes), or the Huberised hinge.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    """
    return _changed(output, {"loss": loss, "width": width, "calibration": calibration})


def plr(*, loss: Literal["logistic", "huber"] = "logistic", width: float = 0.5, calibration: Literal["tight", "paper"] = "tight",
        candidates: Text = "none", select: Text = "none") -> dict[str, Any]:
    """Settings of method plr: objective perturbation: a party's own model of a randomly tilted objective.

    loss
        what is minimised: the logistic loss (softmax for more than two classes), or the Huberised hinge.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    candidates
        lambdas to choose from, l1,l2,...: by select=private:E, with one party.
    select
        what the choice among candidates costs: private:E.
    """
    return _changed(plr, {"loss": loss, "width": width, "calibration": calibration, "candidates": candidates, "select": select})


def gop(*, loss: Literal["logistic", "huber"] = "logistic", width: float = 0.5,
        calibration: Literal["tight", "paper"] = "tight") -> dict[str, Any]:
    """Settings of method gop: Gaussian objective perturbation: as plr, with Gaussian noise and a delta.

    loss
        what is minimised: the logistic loss (softmax for more than two classes), or the Huberised hinge.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    """
    return _changed(gop, {"loss": loss, "width": width, "calibration": calibration})


def pst_s(*, blocks: int = 5, combiner: Literal["high", "majority", "weighted"] = "high", low: float = 0.5, high_lambda: float = 0.0,
          meta: Literal["centred", "probability"] = "centred", loss: Literal["logistic", "huber"] = "logistic", width: float = 0.5,
          calibration: Literal["tight", "paper"] = "tight", candidates: Text = "none", select: Text = "none",
          members: Literal["plr", "tree", "mixed"] = "plr", depth: int = 0, columns: int = 0) -> dict[str, Any]:
    """Settings of method pst-s: stacking over blocks of rows: a private model of private models.

    blocks
        K: how many blocks of rows, each with its own model. From 1 to 10000.
    combiner
        who decides: a private model of the members' predictions, most members, or most weight.
    low
        the share of a party's rows that the members are fitted to; the others are for the high model. From 0.01 to 0.99.
    high_lambda
        the regulariser of the high model; 0: lambda. From 0 to 1000000.
    meta
        what the high model sees of a member: 2p - 1, or p as printed, which needs an intercept to classify well.
    loss
        what is minimised: the logistic loss, or the Huberised hinge.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    candidates
        lambdas to choose from, l1,l2,...: by select=private:E, with one party.
    select
        what the choice among candidates costs: private:E.
    members
        what each block gets: a linear model, a private decision tree (needs a delta), or the one and the other by turns.
    depth
        splits from the root of a tree to a leaf, for members=tree and mixed; 0: chosen from public numbers. From 0 to 10.
    columns
        that a tree may split by after its first split: those that split all its rows best; 0: a third of them, at least 3. From 0 to
        1024.
    """
    return _changed(pst_s, {"blocks": blocks, "combiner": combiner, "low": low, "high-lambda": high_lambda, "meta": meta, "loss": loss,
        "width": width, "calibration": calibration, "candidates": candidates, "select": select, "members": members, "depth": depth,
        "columns": columns})


def pst_f(*, groups: int = 5, importance: Text = "uniform", group_lambda: Text = "lambda", rows: Literal["scale", "normalise"] = "scale",
          draw: int = 0, combiner: Literal["high", "majority", "weighted"] = "high", low: float = 0.5, high_lambda: float = 0.0,
          meta: Literal["centred", "probability"] = "centred", loss: Literal["logistic", "huber"] = "logistic", width: float = 0.5,
          calibration: Literal["tight", "paper"] = "tight", candidates: Text = "none", select: Text = "none") -> dict[str, Any]:
    """Settings of method pst-f: stacking over groups of features: important ones are heard better.

    groups
        K: how many groups of features. From 1 to 10000.
    importance
        public knowledge of what matters: uniform (random groups of equal weight), points (variances of the public points), power:A (A^i
        for feature i), or one number a feature, v1,v2,....
    group_lambda
        the regulariser of each group, l1,l2,...; the study's lambda by default.
    rows
        how a group's part of a row gets a norm of at most q_k: multiplied by q_k, or brought to it.
    draw
        which random groups, for importance=uniform. From 0 to 1000000000.
    combiner
        who decides: a private model of the members' predictions, most members, or most weight.
    low
        the share of a party's rows that the members are fitted to; the others are for the high model. From 0.01 to 0.99.
    high_lambda
        the regulariser of the high model; 0: lambda. From 0 to 1000000.
    meta
        what the high model sees of a member: 2p - 1, or p as printed, which needs an intercept to classify well.
    loss
        what is minimised: the logistic loss, or the Huberised hinge.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    candidates
        lambdas to choose from, l1,l2,...: by select=private:E, with one party.
    select
        what the choice among candidates costs: private:E.
    """
    return _changed(pst_f, {"groups": groups, "importance": importance, "group-lambda": group_lambda, "rows": rows, "draw": draw,
        "combiner": combiner, "low": low, "high-lambda": high_lambda, "meta": meta, "loss": loss, "width": width,
        "calibration": calibration, "candidates": candidates, "select": select})


def pst_h(*, sources: int = 1, source_epsilon: float = 0.0, source_lambda: float = 0.0, groups: int = 5, importance: Text = "uniform",
          group_lambda: Text = "lambda", rows: Literal["scale", "normalise"] = "scale", draw: int = 0,
          combiner: Literal["high", "majority", "weighted"] = "high", low: float = 0.5, high_lambda: float = 0.0,
          meta: Literal["centred", "probability"] = "centred", loss: Literal["logistic", "huber"] = "logistic", width: float = 0.5,
          calibration: Literal["tight", "paper"] = "tight", eta: float = 0.0) -> dict[str, Any]:
    """Settings of method pst-h: stacking across organisations: sources lend their private models to targets.

    sources
        how many parties lend; in a simulation they are the first ones. From 1 to 1000000.
    source_epsilon
        what a source pays; 0: epsilon, as a target. From 0 to 1000000.
    source_lambda
        the regulariser of a source's models; 0: that of the target's. From 0 to 1000000.
    groups
        K: how many groups of features. From 1 to 10000.
    importance
        public knowledge of what matters: uniform (random groups of equal weight), points (variances of the public points), power:A (A^i
        for feature i), or one number a feature, v1,v2,....
    group_lambda
        the regulariser of each group, l1,l2,...; the study's lambda by default.
    rows
        how a group's part of a row gets a norm of at most q_k: multiplied by q_k, or brought to it.
    draw
        which random groups, for importance=uniform. From 0 to 1000000000.
    combiner
        who decides: a private model of the members' predictions, most members, or most weight.
    low
        the share of a party's rows that the members are fitted to; the others are for the high model. From 0.01 to 0.99.
    high_lambda
        the regulariser of the high model; 0: lambda. From 0 to 1000000.
    meta
        what the high model sees of a member: 2p - 1, or p as printed, which needs an intercept to classify well.
    loss
        what is minimised: the logistic loss, or the Huberised hinge.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    eta
        how strongly a target's models are drawn to the sources', beside lambda, which then draws them to zero; 0: lambda draws them to
        the sources'. From 0 to 1000000.
    """
    return _changed(pst_h, {"sources": sources, "source-epsilon": source_epsilon, "source-lambda": source_lambda, "groups": groups,
        "importance": importance, "group-lambda": group_lambda, "rows": rows, "draw": draw, "combiner": combiner, "low": low,
        "high-lambda": high_lambda, "meta": meta, "loss": loss, "width": width, "calibration": calibration, "eta": eta})


def vote(*, local: Text = "logistic", local_lambda: float = 0.0001, calibration: Literal["tight", "paper"] = "tight",
         aux_private: Literal["no", "yes"] = "no") -> dict[str, Any]:
    """Settings of method vote: one model from the parties' majority labels of public points, with noise.

    local
        what each party trains: logistic, svm, tree, bayes, bernoulli, knn, mlp, exec:CMD; a list is dealt round robin.
    local_lambda
        weight of the regulariser in the parties' own models. From 1e-12 to 1000000000000.
    calibration
        the smallest noise that is proved, or the printed.
    aux_private
        protect each auxiliary point like a party (more noise).
    """
    return _changed(vote, {"local": local, "local_lambda": local_lambda, "calibration": calibration, "aux_private": aux_private})


def soft(*, local: Text = "logistic", local_lambda: float = 0.0001, calibration: Literal["tight", "paper"] = "tight",
         aux_private: Literal["no", "yes"] = "no") -> dict[str, Any]:
    """Settings of method soft: one model from the parties' shares of votes on public points, with noise.

    local
        what each party trains: logistic, svm, tree, bayes, bernoulli, knn, mlp, exec:CMD; a list is dealt round robin.
    local_lambda
        weight of the regulariser in the parties' own models. From 1e-12 to 1000000000000.
    calibration
        the smallest noise that is proved, or the printed.
    aux_private
        protect each auxiliary point like a party (more noise).
    """
    return _changed(soft, {"local": local, "local_lambda": local_lambda, "calibration": calibration, "aux_private": aux_private})


def soft_stat(*, local: Text = "logistic", local_lambda: float = 0.0001,
              law: Literal["auto", "pure", "gaussian"] = "auto") -> dict[str, Any]:
    """Settings of method soft-stat: one model from a noisy statistic of the parties' votes on public points.

    local
        what each party trains: logistic, svm, tree, bayes, bernoulli, knn, mlp, exec:CMD; a list is dealt round robin.
    local_lambda
        weight of the regulariser in the parties' own models. From 1e-12 to 1000000000000.
    law
        of the noise: gamma-norm (delta = 0) or Gaussian; auto is Gaussian where the study has a delta.
    """
    return _changed(soft_stat, {"local": local, "local_lambda": local_lambda, "law": law})


def pate(*, local: Text = "logistic", local_lambda: float = 0.0001, queries: int = 200) -> dict[str, Any]:
    """Settings of method pate: a student taught by noisy majority labels of some public points.

    local
        what each party trains: logistic, svm, tree, bayes, bernoulli, knn, mlp, exec:CMD; a list is dealt round robin.
    local_lambda
        weight of the regulariser in the parties' own models. From 1e-12 to 1000000000000.
    queries
        points that are labelled; each costs noise on all. From 1 to 1000000000.
    """
    return _changed(pate, {"local": local, "local_lambda": local_lambda, "queries": queries})


def dpnewton(*, rounds: int = 0, rows: int = 0, noise: Literal["coordinator", "party", "shares"] = "shares",
             unit: Literal["record", "person"] = "record", person_rows: int = 4, purpose: Literal["prediction", "inference"] = "prediction",
             moments: Literal["new", "reused"] = "new", folds: int = 0, fold_seed: int = 1, line: Literal["steps", "asked"] = "asked",
             widths: Literal["former", "narrow"] = "narrow", missing_counts: float = 0.02) -> dict[str, Any]:
    """Settings of method dpnewton: regression on all parties' rows by Newton steps with noise.

    rounds
        Newton steps, each a question to every party, after the one for the moments; 0: chosen from public numbers. From 0 to 64.
    rows
        how many rows all parties have together, as everybody expects: steps and ridge are chosen for it; 0: as the study expects, or
        the parties times the least rows of each. From 0 to 1000000000000.
    noise
        who adds it: a coordinator entrusted with the sums, each party itself (more noise, no trust), or each party a share, which
        secure summation adds up to little more than the coordinator's.
    unit
        what is protected: a row, or all rows of a person at a party; the schema says which column names persons (person: COLUMN).
    person_rows
        with unit=person: rows of a person that count in full; those of a person with more count less, and noise grows with it. From 1
        to 1000000.
    purpose
        what the model is for: prediction, or inference, that is coefficients with standard errors that include the noise.
    moments
        the second moments of the columns: asked for, or those that an earlier study of them released with its model, at no price: all
        of it then buys better steps.
    folds
        of cross-validation, at the same price: a model is made without each fold of the parties' rows and evaluated on it, and the
        result is their mean; 0: none. From 0 to 20.
    fold_seed
        public seed by which parties deal their rows out to folds. From 0 to 1000000000.
    line
        for two classes, how scores become chances: by what the steps released, or, where rows are few for so many columns, by one more
        question about all rows too, at 4% of the budget (not with unit=person or folds).
    widths
        with purpose=inference and a number for a label: the scale of rows, by which long ones count less, as it was or for narrower
        intervals.
    missing_counts
        share of the budget for how many values were missing and how many rows were left out, by column, where the schema says what
        becomes of missing values; 0: not counted. From 0 to 0.5.
    """
    return _changed(dpnewton, {"rounds": rounds, "rows": rows, "noise": noise, "unit": unit, "person-rows": person_rows,
        "purpose": purpose, "moments": moments, "folds": folds, "fold_seed": fold_seed, "line": line, "widths": widths,
        "missing_counts": missing_counts})


def dpgd(*, rounds: int = 0, noise: Literal["coordinator", "party", "shares"] = "coordinator", unit: Literal["record", "party"] = "record",
         missing_counts: float = 0.02, schedule: Literal["even", "adaptive"] = "even", loss: Literal["auto", "huber"] = "auto",
         width: float = 0.5) -> dict[str, Any]:
    """Settings of method dpgd: gradient descent on all parties' rows, with noise in every step.

    rounds
        steps of the descent, each a question to every party; 0: chosen from public numbers. From 0 to 100000.
    noise
        who adds it: a coordinator entrusted with the gradients, each party itself (more noise, no trust), or each party a share, which
        secure summation adds up to little more than the coordinator's.
    unit
        whose replacement is hidden: one row, or all rows of a party.
    missing_counts
        share of the budget for how many values were missing and how many rows were left out, by column, where the schema says what
        becomes of missing values; 0: not counted. From 0 to 0.5.
    schedule
        how the budget is spread over the steps: evenly, or more for a step after one whose gradient drowned in its noise; steps then
        end when the budget is used up, and may be up to about twice as many.
    loss
        what is minimised: by the label (logistic, softmax, clipped residuals of numbers and counts), or Huber's hinge for two classes.
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    """
    return _changed(dpgd, {"rounds": rounds, "noise": noise, "unit": unit, "missing_counts": missing_counts, "schedule": schedule,
        "loss": loss, "width": width})


def dptree(*, depth: int = 0, cells: int = 0, columns: int = 0, rows: int = 0,
           noise: Literal["coordinator", "party", "shares"] = "shares") -> dict[str, Any]:
    """Settings of method dptree: a decision tree on all parties' rows, from counts with noise.

    depth
        splits from the root to a leaf, each a question to every party; 0: chosen from public numbers. From 0 to 10.
    cells
        of equal width that a number's range is cut into: splits are between them; 0: 10. From 0 to 64.
    columns
        that are asked about after the first question, which is about all: those that split the root best; 0: a third of them, at least
        3. From 0 to 1024.
    rows
        how many rows all parties have together, as everybody expects: the depth is chosen for it; 0: as the study expects, or the
        parties times the least rows of each. From 0 to 1000000000000.
    noise
        who adds it: a coordinator entrusted with the counts, each party itself (more noise, no trust), or each party a share, which
        secure summation adds up to little more than the coordinator's.
    """
    return _changed(dptree, {"depth": depth, "cells": cells, "columns": columns, "rows": rows, "noise": noise})


def psgd(*, rounds: int = 100, noise: Literal["both", "fresh", "fixed"] = "both", calibration: Literal["tight", "paper"] = "tight",
         fixed_noise: Literal["shared", "own"] = "shared", schedule: Literal["even", "halving"] = "even") -> dict[str, Any]:
    """Settings of method psgd: stochastic gradient descent with noise kept and noise drawn again, as printed.

    rounds
        steps of the descent; the charge grows with them. From 1 to 100000.
    noise
        of a party's answers: drawn again in each round, once for all rounds, or both as printed; fixed alone protects nobody and is for
        simulations.
    calibration
        of the fixed noise: our constants, or the printed ones with the lost square put back.
    fixed_noise
        the fixed noise is made for the rows of all parties together, each adding a part, or by each party for its own rows alone
        (footnote 4).
    schedule
        of the fresh noise: epsilon in every round, or epsilon/2^t in round t, at most 30 rounds, and epsilon in all.
    """
    return _changed(psgd, {"rounds": rounds, "noise": noise, "calibration": calibration, "fixed_noise": fixed_noise, "schedule": schedule})


def dpiw(*, project: Text = "none", lambda_iw: float = 0.05, law: Literal["auto", "pure", "gaussian"] = "auto",
         calibration: Literal["tight", "paper"] = "tight") -> dict[str, Any]:
    """Settings of method dpiw: private importance weights: what makes public points look like the parties' rows.

    project
        none, or public:P: rows along the top P right singular vectors of the public points, with norm 1.
    lambda_iw
        weight of the regulariser in the importance weights' fit. From 1e-09 to 1000000.
    law
        of the noise: gamma-norm (delta = 0) or Gaussian; auto is Gaussian where the study has a delta.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    """
    return _changed(dpiw, {"project": project, "lambda_iw": lambda_iw, "law": law, "calibration": calibration})


def dphtl(*, project: Text = "none", lambda_iw: float = 0.05, law: Literal["auto", "pure", "gaussian"] = "auto",
          calibration: Literal["tight", "paper"] = "tight", labelled: float = 0.4, hypothesis: Literal["output", "plr"] = "output",
          model: Literal["dphtl", "average", "source", "sources", "soft", "weak", "target", "pphtl"] = "dphtl",
          prior: Literal["aware", "paper"] = "aware", target_labels: float = 0.05, floor: float = 0.01) -> dict[str, Any]:
    """Settings of method dphtl: transfer: private hypotheses of the sources as a prior for a target with few labels.

    project
        none, or public:P: rows along the top P right singular vectors of the public points, with norm 1.
    lambda_iw
        weight of the regulariser in the importance weights' fit. From 1e-09 to 1000000.
    law
        of the noise: gamma-norm (delta = 0) or Gaussian; auto is Gaussian where the study has a delta.
    calibration
        how much noise: what the proof needs, or the constants that the paper prints.
    labelled
        most of a source's rows that train its hypothesis, its first with a label; the others make importance weights. 1: all with a
        label, and all rows make importance weights, at twice the price. From 0.01 to 1.
    hypothesis
        how sources make theirs private: noise on the weights, or on the objective.
    model
        what the target makes: dphtl, or to compare average (equal weights), source (the hypothesis that fits its labels best), sources
        (each of them; in simulations only), soft (their votes as labels), weak and target (its own few labels, or all), pphtl (mean
        hypothesis as center of the regulariser).
    prior
        of dphtl and average: knowing the noise, or as printed.
    target_labels
        part of the target's rows, its first, whose labels are used; all, where some have none. From 1e-06 to 1.
    floor
        the least variance of a coefficient in the prior. From 1e-12 to 1000000.
    """
    return _changed(dphtl, {"project": project, "lambda_iw": lambda_iw, "law": law, "calibration": calibration, "labelled": labelled,
        "hypothesis": hypothesis, "model": model, "prior": prior, "target_labels": target_labels, "floor": floor})


def dpsgd(*, hidden: Text = "32", activation: Literal["tanh", "sigmoid", "relu"] = "tanh", epochs: float = 10.0, sampling: float = 0.05,
          clip: float = 0.0, noise: Literal["coordinator", "shares", "party"] = "coordinator", optimiser: Literal["sgd", "adam"] = "sgd",
          rate: float = 0.0, schedule: Literal["constant", "linear", "cosine", "root", "chosen"] = "chosen", momentum: float = 0.9,
          scale: float = 0.0, weights: Text = "none", keep: float = 1.0, upload: Literal["full", "ternary"] = "full", patience: float = 0.0,
          shape: Text = "none") -> dict[str, Any]:
    """Settings of method dpsgd: a network of layers by stochastic gradient descent, with noise on clipped gradients.

    hidden
        the hidden layers, with commas between: numbers of units (50,20), or with a shape conv:FILTERSxSIDE[/STRIDE],
        pool:SIDE[/STRIDE], gru:UNITS; none: a linear model.
    activation
        of the hidden units.
    epochs
        how often each row takes part, on average. From 0.001 to 100000.
    sampling
        the probability with which a row takes part in a step; 1: all rows do. From 1e-06 to 1.
    clip
        the norm that a row's gradient is clipped to; 0: 1, for numbers and counts .25, without hidden layers chosen from public
        numbers. From 0 to 1000000.
    noise
        who adds it: a coordinator entrusted with the sums; all parties together, in shares under masks; or each party all of it (more
        noise, no trust).
    optimiser
        how the server steps.
    rate
        of the steps; 0: .5, for numbers and counts .1, without hidden layers chosen from public numbers. From 0 to 1000000.
    schedule
        how the rate falls: not, to zero at the end on a line or half a cosine, or with the square root; chosen: constant, without
        hidden layers or for numbers and counts linear.
    momentum
        of sgd, or the first decay of adam. From 0 to 0.9999.
    scale
        what rows are multiplied by before they enter; 0: the root of their length. From 0 to 1000000.
    weights
        of the classes' losses, one number a class with commas between; none: all 1.
    keep
        the share of numbers, the largest, that is kept of a noisy sum. From 1e-06 to 1.
    upload
        what is made of those: nothing, or their signs.
    patience
        steps without progress, about, after which training stops early; 0: never. From 0 to 1000000.
    shape
        what a row is to conv, pool and gru: HEIGHTxWIDTH[xCHANNELS], or STEPSxNUMBERS; none: a list.
    """
    return _changed(dpsgd, {"hidden": hidden, "activation": activation, "epochs": epochs, "sampling": sampling, "clip": clip,
        "noise": noise, "optimiser": optimiser, "rate": rate, "schedule": schedule, "momentum": momentum, "scale": scale,
        "weights": weights, "keep": keep, "upload": upload, "patience": patience, "shape": shape})


def dpstgd(*, hidden: Text = "50,20", activation: Literal["tanh", "sigmoid", "relu"] = "tanh", rounds: int = 100, sampling: float = 0.01,
           keep: float = 0.1, clip: float = 0.01, rate: float = 1.0, schedule: Literal["constant", "linear", "cosine", "root"] = "constant",
           scale: float = 0.0, calibration: Literal["tight", "paper"] = "tight", shape: Text = "none") -> dict[str, Any]:
    """Settings of method dpstgd: a network trained on noisy signs of its largest gradients, parties in turn.

    hidden
        units of each hidden layer, with commas between, or none: a linear model.
    activation
        of the hidden units.
    rounds
        T: turns of every participant. From 1 to 1000000.
    sampling
        q: the chance of each row to be in a step's sample. From 1e-06 to 1.
    keep
        the share of all weights whose signs a step uploads; at least one. From 1e-09 to 1.
    clip
        B: each number of a row's gradient is cut to [-B, B]. From 1e-09 to 1000000000.
    rate
        r: a step moves the chosen weights by r B. From 1e-09 to 1000000000.
    schedule
        how r falls over the T turns.
    scale
        what rows are multiplied by before they enter; 0: the root of their length. From 0 to 1000000.
    calibration
        paper: epsilon is that of a single weight in a single step, as printed; what is charged is far more.
    shape
        what a row is to layers conv, pool and gru (see dpsgd): HEIGHTxWIDTH[xCHANNELS]; none: a list.
    """
    return _changed(dpstgd, {"hidden": hidden, "activation": activation, "rounds": rounds, "sampling": sampling, "keep": keep,
        "clip": clip, "rate": rate, "schedule": schedule, "scale": scale, "calibration": calibration, "shape": shape})


def estimate(*, family: Literal["auto", "logistic", "linear", "poisson", "huber", "multinomial", "ordinal"] = "auto",
             optimiser: Literal["newton", "lbfgs"] = "newton", level: float = 0.95, bias: Literal["none", "firth"] = "none",
             errors: Literal["model", "HC0", "HC1", "HC2", "HC3", "cluster", "gee"] = "model", influence: Literal["no", "yes"] = "no",
             impute: int = 20, anova: Literal["none", "drop1", "sequential"] = "none", intercepts: Literal["common", "party"] = "common",
             folds: int = 0, fold_seed: int = 1, rounds: Literal["many", "few"] = "many",
             start: Literal["zero", "model"] = "zero") -> dict[str, Any]:
    """Settings of method estimate: regression of all rows with standard errors, from sums alone, without noise.

    family
        auto: logistic for two classes, multinomial for more, linear for a number, poisson for a count; ordinal: classes in the schema's
        order.
    optimiser
        newton asks for the Hessian in every round, lbfgs only at the end: more rounds, smaller ones.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    bias
        firth: Firth's penalty, which has an estimate where classes are separated.
    errors
        model: from the Hessian; HC0 to HC3: robust; cluster: robust, by the schema's person; gee: the same, not corrected for few
        persons.
    influence
        yes: Pearson's chi-square, leverages, rows with a large Cook's distance.
    impute
        completed sets, where the schema says missing: impute. From 2 to 200.
    anova
        likelihood-ratio tests by term: drop1 leaves out each term that no other contains, sequential adds one after the other.
    intercepts
        party: each party has one of its own, which nobody sees, and whether parties differ is tested.
    folds
        of cross-validation: the model is fitted without each fold of the parties' rows and evaluated on it; 0: none. From 0 to 20.
    fold_seed
        public seed by which parties deal their rows out to folds. From 0 to 1000000000.
    rounds
        few: a linear fit in two rounds, a logistic one in five or six, for studies that people carry; less is looked at on the way.
    start
        model: a logistic fit with rounds=few starts at the study's public model, and takes three rounds where that is near.
    """
    return _changed(estimate, {"family": family, "optimiser": optimiser, "level": level, "bias": bias, "errors": errors,
        "influence": influence, "impute": impute, "anova": anova, "intercepts": intercepts, "folds": folds, "fold_seed": fold_seed,
        "rounds": rounds, "start": start})


def meta(*, family: Literal["auto", "logistic", "linear", "poisson", "huber", "multinomial", "ordinal"] = "auto",
         tau: Literal["DL", "PM"] = "DL", level: float = 0.95, bias: Literal["none", "firth"] = "none",
         errors: Literal["model", "HC0", "HC1", "HC2", "HC3", "cluster", "gee"] = "model", forest: Literal["no", "yes"] = "no",
         missing: Literal["counted", "plain"] = "counted") -> dict[str, Any]:
    """Settings of method meta: a regression at every site, pooled over sites that differ (meta-analysis), no noise.

    family
        of each site's regression, as in method estimate.
    tau
        the variance between sites: DerSimonian and Laird's, or Paule and Mandel's, which takes more sums and so more sites.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    bias
        firth: Firth's penalty in each site's regression.
    errors
        of each site's regression, as in method estimate.
    forest
        yes: every site's own estimates are shown, with the weight that each has.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, where the schema says what becomes
        of missing values.
    """
    return _changed(meta, {"family": family, "tau": tau, "level": level, "bias": bias, "errors": errors, "forest": forest,
        "missing": missing})


def mixed(*, family: Literal["auto", "linear", "logistic", "poisson"] = "auto", group: Literal["person", "party"] = "person",
          slope: Text = "none", likelihood: Literal["ML", "REML"] = "ML", nodes: int = 25, level: float = 0.95,
          missing: Literal["counted", "plain"] = "counted") -> dict[str, Any]:
    """Settings of method mixed: regression with random effects of persons or parties, from sums alone, no noise.

    family
        auto: logistic for two classes, linear for a number, poisson for a count.
    group
        whose rows belong together: those of the schema's person, or of a party.
    slope
        a column whose effect differs between groups, as their intercepts do; or none.
    likelihood
        REML: variances of a linear model free of the bias by its coefficients.
    nodes
        of the quadrature, as nAGQ in R's glmer; with a slope it is Laplace's, 1. From 1 to 100.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, where the schema says what becomes
        of missing values.
    """
    return _changed(mixed, {"family": family, "group": group, "slope": slope, "likelihood": likelihood, "nodes": nodes, "level": level,
        "missing": missing})


def cox(*, width: float = 0.0, ties: Literal["efron", "breslow"] = "efron", strata: Text = "none", least: int = 10, level: float = 0.95,
        errors: Literal["model", "robust", "cluster"] = "model", proportional: Literal["none", "km", "identity", "log", "rank"] = "none",
        unit: Literal["label", "day", "week", "month", "year"] = "label", concordance: Literal["no", "yes"] = "no",
        missing: Literal["counted", "plain"] = "counted") -> dict[str, Any]:
    """Settings of method cox: Cox regression of a time until an event, from sums alone, without noise.

    width
        of a cell of time, in the unit of the label: 30.4375 for months where times are days; 0: a hundredth of the label's range. From
        0 to 1000000000000.
    ties
        events in the same cell, as in R's coxph.
    strata
        a category whose levels have baselines of their own, instead of a coefficient; or none.
    least
        cells are merged until at least this many rows of all parties leave in each. From 1 to 1000000.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    errors
        model: from the information; robust: Lin and Wei's sandwich; cluster: by the schema's person.
    proportional
        tests of proportional hazards against this function of time, as R's cox.zph.
    unit
        of width: the label's, or where that is days, 1, 7, 30.4375 or 365.25 of them; width is then 1 by default.
    concordance
        Harrell's concordance, from counts of scores in 200 bins, and how far off it may be.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, where the schema says what becomes
        of missing values.
    """
    return _changed(cox, {"width": width, "ties": ties, "strata": strata, "least": least, "level": level, "errors": errors,
        "proportional": proportional, "unit": unit, "concordance": concordance, "missing": missing})


def dpcox(*, noise: Literal["coordinator", "party", "shares"] = "shares", width: float = 0.0, level: float = 0.95, rows: int = 0,
          unit: Literal["label", "day", "week", "month", "year"] = "label", missing_counts: float = 0.02) -> dict[str, Any]:
    """Settings of method dpcox: Cox regression of a time until an event, with noise.

    noise
        who adds it: a coordinator entrusted with the sums, each party itself (more noise, no trust), or each party a share, which
        secure summation adds up to little more than the coordinator's.
    width
        of a cell of time, in the unit of the label: 30.4375 for months where times are days; 0: a hundredth of the label's range. From
        0 to 1000000000000.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    rows
        how many rows all parties have together, or persons where the schema names them, as everybody expects: how much one person may
        count follows from it; 0: as the study expects, or the parties times the least rows of each. From 0 to 1000000000000.
    unit
        of width: the label's, or where that is days, 1, 7, 30.4375 or 365.25 of them; width is then 1 by default.
    missing_counts
        share of the budget for how many values were missing and how many rows were left out, by column, where the schema says what
        becomes of missing values; 0: not counted. From 0 to 0.5.
    """
    return _changed(dpcox, {"noise": noise, "width": width, "level": level, "rows": rows, "unit": unit, "missing_counts": missing_counts})


def survival(*, noise: Literal["shares", "party"] = "shares", width: float = 0.0, by: Text = "none", level: float = 0.95,
             interval: Literal["log", "log-log", "plain"] = "log", until: float = 0.0) -> dict[str, Any]:
    """Settings of method survival: curves of survival, medians and tests of groups, from counts with noise.

    noise
        who adds it: each party a share, which secure summation adds up, or each party all of it (more noise, no trust).
    width
        of a cell of time, in the unit of the label: 30.4375 for months where times are days; 0: a hundredth of the label's range. From
        0 to 1000000000000.
    by
        a category: a curve for each level, and tests; or none.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    interval
        the scale on which intervals are symmetric, as conf.type in R's survfit.
    until
        mean times count up to it; 0: the last time at which everybody's curve is known. From 0 to 1000000000000.
    """
    return _changed(survival, {"noise": noise, "width": width, "by": by, "level": level, "interval": interval, "until": until})


def survival_exact(*, width: float = 0.0, by: Text = "none", least: int = 10, level: float = 0.95,
                   interval: Literal["log", "log-log", "plain"] = "log", until: float = 0.0,
                   unit: Literal["label", "day", "week", "month", "year"] = "label",
                   missing: Literal["counted", "plain"] = "counted") -> dict[str, Any]:
    """Settings of method survival-exact: curves of survival, medians and tests of groups, from counts alone, without noise.

    width
        of a cell of time, in the unit of the label: 30.4375 for months where times are days; 0: a hundredth of the label's range. From
        0 to 1000000000000.
    by
        a category: a curve for each level, and tests; or none.
    least
        cells are merged until in each group nobody leaves, or at least this many rows of all parties. From 1 to 1000000.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    interval
        the scale on which intervals are symmetric, as conf.type in R's survfit.
    until
        mean times count up to it; 0: the last time at which everybody's curve is known. From 0 to 1000000000000.
    unit
        of width: the label's, or where that is days, 1, 7, 30.4375 or 365.25 of them; width is then 1 by default.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, where the schema says what becomes
        of missing values.
    """
    return _changed(survival_exact, {"width": width, "by": by, "least": least, "level": level, "interval": interval, "until": until,
        "unit": unit, "missing": missing})


def describe(*, noise: Literal["shares", "party"] = "shares", threshold: int = 10, by: Text = "none", cross: Text = "none", cells: int = 0,
             sites: Literal["together", "apart"] = "together", missing: Literal["plain", "counted"] = "plain") -> dict[str, Any]:
    """Settings of method describe: descriptive statistics under noise: the table before any model.

    noise
        who adds it: each party a share, which secure summation adds up, or each party all of it (more noise, no trust).
    threshold
        counts below it are left out of the report. From 0 to 1000000000.
    by
        a category, or the label: everything by its levels too; or none.
    cross
        pairs of categories whose cross-tables are made, with a chi-square test: sex*stage,sex*outcome.
    cells
        that a number's bounds are cut into, at least; 0: chosen from expected rows, epsilon and the number of columns. From 0 to 1024.
    sites
        apart: figures of each party by itself, too, whose owner must allow it.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, too; a tenth of the budget.
    """
    return _changed(describe, {"noise": noise, "threshold": threshold, "by": by, "cross": cross, "cells": cells, "sites": sites,
        "missing": missing})


def describe_exact(*, threshold: int = 10, by: Text = "none", cross: Text = "none", sites: Literal["together", "apart"] = "together",
                   missing: Literal["plain", "counted"] = "plain") -> dict[str, Any]:
    """Settings of method describe-exact: descriptive statistics from exact sums: the table before any model.

    threshold
        counts below it are left out of the report. From 0 to 1000000000.
    by
        a category, or the label: everything by its levels too; or none.
    cross
        pairs of categories whose cross-tables are made, with a chi-square test: sex*stage,sex*outcome.
    sites
        apart: figures of each party by itself, too, whose owner must allow it.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, too; a tenth of the budget.
    """
    return _changed(describe_exact, {"threshold": threshold, "by": by, "cross": cross, "sites": sites, "missing": missing})


def evaluate(*, cells: int = 0, groups: int = 10, least: int = 5, level: float = 0.95, by: Text = "none",
             thresholds: Text = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", noise: Literal["shares", "coordinator", "party"] = "shares",
             law: Literal["auto", "pure", "gaussian"] = "auto", sites: Literal["together", "apart"] = "together",
             missing_counts: float = 0.02) -> dict[str, Any]:
    """Settings of method evaluate: how good a given model is on the parties' rows: ROC, calibration, thresholds.

    cells
        of the grid of scores; 0: 1,000 without noise, else from epsilon and the declared rows. From 0 to 10000.
    groups
        of the calibration curve. From 1 to 100.
    least
        rows that a group of a curve, a cell of a threshold's table and a class of a subgroup have, or it is not published. From 1 to
        1000000.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    by
        a category of the schema whose levels are subgroups, or none.
    thresholds
        scores from which a row counts as positive, comma-separated.
    noise
        who adds it: each party a share, which secure summation adds up, a coordinator entrusted with the counts, or each party all of
        it, with sites=apart.
    law
        of the noise; auto: gaussian where the study has a delta.
    sites
        apart: figures of each party by itself, too, whose owner must allow it.
    missing_counts
        share of the budget for how many values were missing and how many rows were left out, by column, where the schema says what
        becomes of missing values; 0: not counted. From 0 to 0.5.
    """
    return _changed(evaluate, {"cells": cells, "groups": groups, "least": least, "level": level, "by": by, "thresholds": thresholds,
        "noise": noise, "law": law, "sites": sites, "missing_counts": missing_counts})


def evaluate_exact(*, cells: int = 0, groups: int = 10, least: int = 5, level: float = 0.95, by: Text = "none",
                   thresholds: Text = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", sites: Literal["together", "apart"] = "together",
                   missing: Literal["counted", "plain"] = "counted") -> dict[str, Any]:
    """Settings of method evaluate-exact: how good a given model is on the parties' rows, from exact counts, without noise.

    cells
        of the grid of scores; 0: 1,000 without noise, else from epsilon and the declared rows. From 0 to 10000.
    groups
        of the calibration curve. From 1 to 100.
    least
        rows that a group of a curve, a cell of a threshold's table and a class of a subgroup have, or it is not published. From 1 to
        1000000.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    by
        a category of the schema whose levels are subgroups, or none.
    thresholds
        scores from which a row counts as positive, comma-separated.
    sites
        apart: figures of each party by itself, too, whose owner must allow it.
    missing
        counted: how many values of each column are missing and how many rows were left out for it, where the schema says what becomes
        of missing values.
    """
    return _changed(evaluate_exact, {"cells": cells, "groups": groups, "least": least, "level": level, "by": by, "thresholds": thresholds,
        "sites": sites, "missing": missing})


def histogram(*, cells: int = 0, noise: Literal["coordinator", "shares"] = "coordinator", negative: Literal["project", "clip"] = "project",
              label_cells: int = 0, loss: Literal["auto", "huber"] = "auto", width: float = 0.5) -> dict[str, Any]:
    """Settings of method histogram: a model from noisy counts of rows in cells, for at most four columns.

    cells
        along each number; 0: from epsilon, the declared rows and the number of columns. From 0 to 1000.
    noise
        who adds it: a coordinator entrusted with the counts, or each party a share, which secure summation adds up.
    negative
        counts below 0 by noise: taken off the others so that the total stays, or set to 0 as in the paper.
    label_cells
        over a label that is a number, or a count, which has one for each value at most; 0: one for each value of a count of few values,
        else as many as are chosen along a number. From 0 to 1000000.
    loss
        what is minimised: by the label (logistic, softmax, squares for numbers, Poisson for counts), or what makes outliers count for
        less (Huber's hinge for two classes, clipped residuals of numbers and counts).
    width
        half the width of the rounded corner of loss=huber. From 0.01 to 1.
    """
    return _changed(histogram, {"cells": cells, "noise": noise, "negative": negative, "label_cells": label_cells, "loss": loss,
        "width": width})


def consensus(*, graph: Text = "geometric", draw: int = 1, rounds: int = 1000, step: Text = "auto",
              weigh: Literal["rows", "parties"] = "rows", links: float = 1.0, leave: float = 0.0, away: int = 10, drift: int = 0,
              schedule: Literal["diminishing", "fixed"] = "diminishing", loss: Literal["auto", "huber"] = "auto",
              delay: int = 0) -> dict[str, Any]:
    """Settings of method consensus: gradient descent among neighbours, no center, no privacy.

    graph
        who is whose neighbour: ring, grid, complete, geometric[:RADIUS], random[:CHANCE], file:PATH or edges:1-2,2-3 (lines of two
        parties, from 1).
    draw
        which of the random graphs, with its links, leaves and pairs; all methods get the same. From 0 to 1000000000.
    rounds
        how often neighbours talk. From 1 to 10000000.
    step
        length of a step, or auto: from public constants.
    weigh
        what counts the same: every row, or every party.
    links
        the probability that a link is up in a round. From 1e-06 to 1.
    leave
        the chance that a party leaves in a round. From 0 to 0.99.
    away
        rounds after which a party that left is back. From 1 to 1000000.
    drift
        how often the rows in use change: half of them at a time, moving on during the run. From 0 to 1000000.
    schedule
        steps that grow shorter and reach the optimum slowly, or a fixed one that stops near it soon.
    loss
        what is minimised: by the label (logistic, softmax, squares for numbers, Poisson for counts), or what makes outliers count for
        less (Huber's hinge for two classes, clipped residuals of numbers and counts).
    delay
        asynchronous: a party's gradient may be of its weights up to this many of its own steps ago; step=auto is shorter for it. From 0
        to 100.
    """
    return _changed(consensus, {"graph": graph, "draw": draw, "rounds": rounds, "step": step, "weigh": weigh, "links": links,
        "leave": leave, "away": away, "drift": drift, "schedule": schedule, "loss": loss, "delay": delay})


def gossip(*, graph: Text = "geometric", draw: int = 1, rounds: int = 1000, step: Text = "auto", weigh: Literal["rows", "parties"] = "rows",
           links: float = 1.0, leave: float = 0.0, away: int = 10, drift: int = 0,
           schedule: Literal["diminishing", "fixed"] = "diminishing", pairs: int = 0, loss: Literal["auto", "huber"] = "auto",
           delay: int = 0) -> dict[str, Any]:
    """Settings of method gossip: gradient descent in random pairs of neighbours, no center, no privacy.

    graph
        who is whose neighbour: ring, grid, complete, geometric[:RADIUS], random[:CHANCE], file:PATH or edges:1-2,2-3 (lines of two
        parties, from 1).
    draw
        which of the random graphs, with its links, leaves and pairs; all methods get the same. From 0 to 1000000000.
    rounds
        how often neighbours talk. From 1 to 10000000.
    step
        length of a step, or auto: from public constants.
    weigh
        what counts the same: every row, or every party.
    links
        the probability that a link is up in a round. From 1e-06 to 1.
    leave
        the chance that a party leaves in a round. From 0 to 0.99.
    away
        rounds after which a party that left is back. From 1 to 1000000.
    drift
        how often the rows in use change: half of them at a time, moving on during the run. From 0 to 1000000.
    schedule
        steps that grow shorter with a party's own meetings, or a fixed one that stops near the optimum.
    pairs
        the most pairs that meet in a round; 0: as many as find each other. From 0 to 1000000.
    loss
        what is minimised: by the label (logistic, softmax, squares for numbers, Poisson for counts), or what makes outliers count for
        less (Huber's hinge for two classes, clipped residuals of numbers and counts).
    delay
        asynchronous: a party's gradient may be of its weights up to this many of its own steps ago; step=auto is shorter for it. From 0
        to 100.
    """
    return _changed(gossip, {"graph": graph, "draw": draw, "rounds": rounds, "step": step, "weigh": weigh, "links": links, "leave": leave,
        "away": away, "drift": drift, "schedule": schedule, "pairs": pairs, "loss": loss, "delay": delay})


def extra(*, graph: Text = "geometric", draw: int = 1, rounds: int = 1000, step: Text = "auto", weigh: Literal["rows", "parties"] = "rows",
          links: float = 1.0, leave: float = 0.0, away: int = 10, drift: int = 0, loss: Literal["auto", "huber"] = "auto",
          delay: int = 0) -> dict[str, Any]:
    """Settings of method extra: exact gradient descent among neighbours, no center, no privacy.

    graph
        who is whose neighbour: ring, grid, complete, geometric[:RADIUS], random[:CHANCE], file:PATH or edges:1-2,2-3 (lines of two
        parties, from 1).
    draw
        which of the random graphs, with its links, leaves and pairs; all methods get the same. From 0 to 1000000000.
    rounds
        how often neighbours talk. From 1 to 10000000.
    step
        length of a step, or auto: from public constants.
    weigh
        what counts the same: every row, or every party.
    links
        the probability that a link is up in a round. From 1e-06 to 1.
    leave
        the chance that a party leaves in a round. From 0 to 0.99.
    away
        rounds after which a party that left is back. From 1 to 1000000.
    drift
        how often the rows in use change: half of them at a time, moving on during the run. From 0 to 1000000.
    loss
        what is minimised: by the label (logistic, softmax, squares for numbers, Poisson for counts), or what makes outliers count for
        less (Huber's hinge for two classes, clipped residuals of numbers and counts).
    delay
        asynchronous: a party's gradient may be of its weights up to this many of its own steps ago; step=auto is shorter for it. From 0
        to 100.
    """
    return _changed(extra, {"graph": graph, "draw": draw, "rounds": rounds, "step": step, "weigh": weigh, "links": links, "leave": leave,
        "away": away, "drift": drift, "loss": loss, "delay": delay})


def newton(*, engine: Literal["yao", "shares"] = "yao", stop: Literal["likelihood", "converged"] = "likelihood",
           inference: Literal["yes", "no"] = "yes", level: float = 0.95, scale: float = 0.0, fraction: int = 36, start: float = 0.0,
           dp: float = 0.0, dp_delta: float = 1e-06, dp_iterations: int = 8, penalty: Literal["mean", "sum"] = "mean") -> dict[str, Any]:
    """Settings of method newton: logistic, linear or Poisson regression by Newton's method between two center servers, sums encrypted.

    engine
        what the center servers compute with: garbled circuits, as in the paper, or shares.
    stop
        likelihood: at a relative change below 1e-6, as in the paper; converged: within 1e-4 of the optimum.
    inference
        standard errors, tests, deviance: one more inverse, of the true Hessian.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    scale
        S: rows are multiplied with it, so that columns have a spread near 1; 0: from the schema. From 0 to 10000.
    fraction
        binary digits behind the point between the center servers. From 24 to 44.
    start
        all coefficients at the beginning. From -100 to 100.
    dp
        epsilon: noise is added between the servers before anything is opened; 0: none. From 0 to 1000000.
    dp_delta
        delta that belongs to dp. From 1e-12 to 0.1.
    dp_iterations
        with dp: the number of iterations, whatever the rows; of a number always 1. From 1 to 1000.
    penalty
        mean: lambda is beside the mean loss, as everywhere; sum: beside the sum over rows times scale, as in the paper.
    """
    return _changed(newton, {"engine": engine, "stop": stop, "inference": inference, "level": level, "scale": scale, "fraction": fraction,
        "start": start, "dp": dp, "dp-delta": dp_delta, "dp-iterations": dp_iterations, "penalty": penalty})


def privlogit_hessian(*, engine: Literal["yao", "shares"] = "yao", stop: Literal["likelihood", "converged"] = "likelihood",
                      inference: Literal["yes", "no"] = "yes", level: float = 0.95, scale: float = 0.0, fraction: int = 36,
                      start: float = 0.0, dp: float = 0.0, dp_delta: float = 1e-06, dp_iterations: int = 8,
                      penalty: Literal["mean", "sum"] = "mean") -> dict[str, Any]:
    """Settings of method privlogit-hessian: logistic or linear regression with a fixed bound of the Hessian between two center servers.

    engine
        what the center servers compute with: garbled circuits, as in the paper, or shares.
    stop
        likelihood: at a relative change below 1e-6, as in the paper; converged: within 1e-4 of the optimum.
    inference
        standard errors, tests, deviance: one more inverse, of the true Hessian.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    scale
        S: rows are multiplied with it, so that columns have a spread near 1; 0: from the schema. From 0 to 10000.
    fraction
        binary digits behind the point between the center servers. From 24 to 44.
    start
        all coefficients at the beginning. From -100 to 100.
    dp
        epsilon: noise is added between the servers before anything is opened; 0: none. From 0 to 1000000.
    dp_delta
        delta that belongs to dp. From 1e-12 to 0.1.
    dp_iterations
        with dp: the number of iterations, whatever the rows; of a number always 1. From 1 to 1000.
    penalty
        mean: lambda is beside the mean loss, as everywhere; sum: beside the sum over rows times scale, as in the paper.
    """
    return _changed(privlogit_hessian, {"engine": engine, "stop": stop, "inference": inference, "level": level, "scale": scale,
        "fraction": fraction, "start": start, "dp": dp, "dp-delta": dp_delta, "dp-iterations": dp_iterations, "penalty": penalty})


def privlogit_local(*, engine: Literal["yao", "shares"] = "yao", stop: Literal["likelihood", "converged"] = "likelihood",
                    inference: Literal["yes", "no"] = "yes", level: float = 0.95, scale: float = 0.0, fraction: int = 36,
                    start: float = 0.0, penalty: Literal["mean", "sum"] = "mean", dp: float = 0.0, dp_delta: float = 1e-06,
                    dp_iterations: int = 8) -> dict[str, Any]:
    """Settings of method privlogit-local: as privlogit-hessian, with the encrypted inverse multiplied at the nodes.

    engine
        what the center servers compute with: garbled circuits, as in the paper, or shares.
    stop
        likelihood: at a relative change below 1e-6, as in the paper; converged: within 1e-4 of the optimum.
    inference
        standard errors, tests, deviance: one more inverse, of the true Hessian.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    scale
        S: rows are multiplied with it, so that columns have a spread near 1; 0: from the schema. From 0 to 10000.
    fraction
        binary digits behind the point between the center servers. From 24 to 44.
    start
        all coefficients at the beginning. From -100 to 100.
    penalty
        mean: lambda is beside the mean loss, as everywhere; sum: beside the sum over rows times scale, as in the paper.
    dp
        epsilon: noise is added between the servers before anything is opened; 0: none. From 0 to 1000000.
    dp_delta
        delta that belongs to dp. From 1e-12 to 0.1.
    dp_iterations
        with dp: the number of iterations, whatever the rows; of a number always 1. From 1 to 1000.
    """
    return _changed(privlogit_local, {"engine": engine, "stop": stop, "inference": inference, "level": level, "scale": scale,
        "fraction": fraction, "start": start, "penalty": penalty, "dp": dp, "dp-delta": dp_delta, "dp-iterations": dp_iterations})


def cox_servers(*, width: float = 0.0, ties: Literal["efron", "breslow"] = "breslow", strata: Text = "none", level: float = 0.95,
                unit: Literal["label", "day", "week", "month", "year"] = "label",
                engine: Literal["yao", "shares"] = "shares") -> dict[str, Any]:
    """Settings of method cox-servers: Cox regression of a time until an event between two center servers, sums encrypted.

    width
        of a cell of time, in the unit of the label: 30.4375 for months where times are days; 0: a hundredth of the label's range. From
        0 to 1000000000000.
    ties
        events in the same cell, as in R's coxph; between two servers breslow alone.
    strata
        a category whose levels have baselines of their own, instead of a coefficient; or none.
    level
        of the confidence intervals. From 0.5 to 0.999999.
    unit
        of width: the label's, or where that is days, 1, 7, 30.4375 or 365.25 of them; width is then 1 by default.
    engine
        what the center servers compute with: garbled circuits, or shares, which are much faster.
    """
    return _changed(cox_servers, {"width": width, "ties": ties, "strata": strata, "level": level, "unit": unit, "engine": engine})
