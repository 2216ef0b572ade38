/*
 * The settings of a study's definition, in the order of its canonical text. One line makes a setting: its
 * member of tacit_study, parser, canonical text, line of consent, JSON, and the reference (`tacit help
 * study-settings`) come from it. This file is included with these macros defined (study.h, study_parts.h,
 * study_settings.c):
 *
 *   TACIT_STUDY_NUMBER(name, ...)      a double from .least to .most, the member `name` of tacit_study
 *   TACIT_STUDY_COUNT(name, ...)       a size_t, likewise
 *   TACIT_STUDY_SWITCH(name, ...)      a bool, yes or no
 *   TACIT_STUDY_LINE(name, ...)        one line of text, a char[TACIT_TITLE_SIZE]
 *   TACIT_PLAN_NUMBER and so on        the same, where the plan has the member already
 *   TACIT_STUDY_MADE(name, ...)        anything else: study_read_NAME and study_print_NAME
 *
 * then members of tacit_study_setting (study_settings.h). A setting that earlier versions do not have is
 * TACIT_STUDY_QUIET: it is not written where it has its default, so that the hash of a definition without it
 * stays what it was.
 */
#ifndef TACIT_STUDY_NUMBER
#define TACIT_STUDY_NUMBER(...)
#endif
#ifndef TACIT_STUDY_COUNT
#define TACIT_STUDY_COUNT(...)
#endif
#ifndef TACIT_STUDY_SWITCH
#define TACIT_STUDY_SWITCH(...)
#endif
#ifndef TACIT_STUDY_LINE
#define TACIT_STUDY_LINE(...)
#endif
#ifndef TACIT_PLAN_NUMBER
#define TACIT_PLAN_NUMBER(...)
#endif
#ifndef TACIT_PLAN_COUNT
#define TACIT_PLAN_COUNT(...)
#endif
#ifndef TACIT_PLAN_SWITCH
#define TACIT_PLAN_SWITCH(...)
#endif
#ifndef TACIT_STUDY_MADE
#define TACIT_STUDY_MADE(...)
#endif
/* clang-format off */
TACIT_STUDY_MADE(name, .rules = TACIT_STUDY_REQUIRED, .form = "1 to 40 of a-z, 0-9 and -",
                 .help = TACIT_HELP("what the study is called, in commands and files"))
TACIT_STUDY_LINE(title, .rules = TACIT_STUDY_REQUIRED, .help = TACIT_HELP("what people read first"))
TACIT_STUDY_MADE(description, .form = "plain text of at most 8192 bytes", .help = TACIT_HELP("what the study is for"))
TACIT_STUDY_LINE(approval, .help = TACIT_HELP("who approved the study, such as an ethics board"), .terms = "{}")
TACIT_STUDY_MADE(consent, .form = "FILE, or plain text of several lines",
                 .help = TACIT_HELP("the document that owners consent to; it becomes part of the definition"))
TACIT_STUDY_MADE(schedule, .form = "{from: TIME, until: TIME}",
                 .help = TACIT_HELP("nothing is asked outside; UTC, such as 2027-03-31 or 2027-03-31T18:00:00Z"))
TACIT_STUDY_MADE(method, .rules = TACIT_STUDY_REQUIRED, .form = "NAME", .help = TACIT_HELP("one that `tacit methods` lists"))
TACIT_STUDY_MADE(set, .form = "{SETTING: VALUE, ...}", .standard = "the method's defaults",
                 .help = TACIT_HELP("the method's settings, as `tacit methods NAME` lists them"))
TACIT_STUDY_MADE(epsilon, .form = "1e-06 to 1e+06",
                 .help = TACIT_HELP("the price of the whole study; required, but left out for a method without noise"))
TACIT_STUDY_MADE(delta, .form = "0 to 0.5", .standard = "0", .help = TACIT_HELP("left out for a method without noise"))
TACIT_STUDY_MADE(lambda, .rules = TACIT_STUDY_TRAVELS, .form = "a positive number",
                 .standard = "chosen by the method from what is public", .help = TACIT_HELP("the strength of regularization"))
TACIT_STUDY_MADE(parties, .rules = TACIT_STUDY_REQUIRED, .stage = TACIT_STUDY_READ_PARTIES,
                 .form = "{expected: N, minimum: N}", .standard = "minimum: as many as expected",
                 .help = TACIT_HELP("the study starts when this many have joined, and computes nothing from fewer than the minimum"))
TACIT_PLAN_COUNT(minimum_rows, .rules = TACIT_STUDY_REQUIRED, .stage = TACIT_STUDY_READ_PARTIES, .least = 1,
                 .most = 1e9,
                 .help = TACIT_HELP("a party with fewer rows refuses"))
TACIT_STUDY_NUMBER(patience, .stage = TACIT_STUDY_READ_PARTIES, .least = 0.1, .most = 86400, .fallback = 30,
                   .parts = 1000,
                   .help = TACIT_HELP("seconds that a round waits for stragglers"))
TACIT_STUDY_MADE(sum, .stage = TACIT_STUDY_READ_PARTIES, .form = "masked | paillier | clear", .standard = "masked",
                 .help = TACIT_HELP("what the coordinator sees of contributions to a sum: nothing, nothing (one party holds a key), or each"))
TACIT_STUDY_MADE(key_bits, .stage = TACIT_STUDY_READ_PARTIES, .form = "2048 | 3072", .standard = "2048",
                 .help = TACIT_HELP("the size of the key of sum: paillier"))
TACIT_PLAN_NUMBER(dropouts, .stage = TACIT_STUDY_READ_PARTIES, .least = 0, .most = 0.9,
                  .fallback = TACIT_STUDY_FRACTION,
                  .applies = study_sums_are_secure, .belongs = "secure sums, and these are in clear",
                  .help = TACIT_HELP("the largest fraction of the parties that may vanish in a sum"))
TACIT_PLAN_NUMBER(colluders, .stage = TACIT_STUDY_READ_PARTIES, .least = 0, .most = 0.9,
                  .fallback = TACIT_STUDY_FRACTION,
                  .applies = study_sums_are_secure, .belongs = "secure sums, and these are in clear",
                  .help = TACIT_HELP("the largest fraction that helps the coordinator look; at least one party, except where it is 0"))
TACIT_PLAN_SWITCH(complete, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_PARTIES,
                  .applies = study_sums_are_masked,
                  .belongs = "sum: masked",
                  .help = TACIT_HELP("whether each party masks with every other one, also where there are more than 50"))
TACIT_STUDY_MADE(transport, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_PARTIES,
                 .text = transport_text,
                 .form = "network | files", .standard = "network",
                 .help = TACIT_HELP("whether questions and answers may go by files that people carry (tacit envelope): sums then take one exchange"),
                 .terms = "{}: questions and answers may be carried by people (tacit envelope)")
TACIT_STUDY_MADE(exchange, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_PARTIES,
                 .text = exchange_text,
                 .form = "one | two", .standard = "one; two where noise is in shares and minimum is below expected",
                 .help = TACIT_HELP("with transport: files, whether a masked sum takes one exchange, of all parties, or two, and may lose dropouts"))
TACIT_STUDY_MADE(expected_rows, .stage = TACIT_STUDY_READ_PARTIES, .form = "a whole number from 1 to 1e+12",
                 .standard = "the parties times minimum_rows",
                 .help = TACIT_HELP("the rows of all parties together, as everybody expects them: rounds, lambda and grids are chosen for it"))
TACIT_STUDY_MADE(auxiliary, .stage = TACIT_STUDY_READ_POINTS, .form = "FILE",
                 .help = TACIT_HELP("public points, for methods that have them labelled; a label is not read"))
TACIT_STUDY_MADE(model, .stage = TACIT_STUDY_READ_POINTS, .form = "FILE, or JSON of several lines",
                 .help = TACIT_HELP("the model that the study is about ({about-model and}), that it builds on ({builds-on and}), or that it starts at ({starts-at and}, with start=model); it becomes part of the definition, "
                         "and everybody sees it"))
TACIT_STUDY_MADE(center, .stage = TACIT_STUDY_READ_POINTS, .form = "FILE",
                 .help = TACIT_HELP("the card of center server B, for methods that have one"))
TACIT_STUDY_MADE(stop, .stage = TACIT_STUDY_READ_STOP, .form = "{rounds: N, se: {column: NAME, at_most: X}, ...}",
                 .help = TACIT_HELP("when there is enough: rounds, converged, participants, se, width or power, looks, more, then"))
TACIT_STUDY_MADE(look, .rules = TACIT_STUDY_COUNTED, .stage = TACIT_STUDY_READ_STOP, .form = "a whole number",
                 .help = TACIT_HELP("which look this is; the coordinator writes it"))
TACIT_STUDY_MADE(schema, .rules = TACIT_STUDY_REQUIRED, .stage = TACIT_STUDY_READ_SCHEMA,
                 .form = "FILE, or YAML of several lines", .help = TACIT_HELP("the columns of the rows; it becomes part of the definition"))
TACIT_STUDY_MADE(terms, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_SCHEMA, .text = terms_text,
                 .form = "FORMULA, such as y ~ age + log(dose)*sex", .standard = "each column of the schema by itself",
                 .help = TACIT_HELP("what the model is made of, as R writes it; it becomes part of the schema"))
TACIT_STUDY_MADE(weights, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_SCHEMA, .form = "COLUMN",
                 .help = TACIT_HELP("a column of numbers above 0 by which rows count ({weights and}); it becomes part of the terms"))
TACIT_STUDY_MADE(subset, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_SCHEMA, .text = subset_text,
                 .form = "CONDITION, such as age > 50 & stage == \"III\"", .standard = "all rows",
                 .help = TACIT_HELP("which rows the study is about, as R writes it; it becomes part of the schema"))
TACIT_STUDY_MADE(enrolment, .rules = TACIT_STUDY_QUIET, .text = enrolment_text, .form = "invite | apply | open", .standard = "invite",
                 .help = TACIT_HELP("who may join: whoever was invited, whoever asks and is accepted (tacit study accept), or whoever asks; a study of "
                         "the last two kinds is in the public catalogue"))
TACIT_STUDY_COUNT(enrolments_per_minute, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_PARTIES,
                  .least = 1, .most = 100000, .fallback = 60,
                  .applies = study_takes_applications, .belongs = "enrolment: apply or open, and to offer_earlier: yes",
                  .help = TACIT_HELP("how many people may enrol in a minute; later ones are asked to come again"))
TACIT_STUDY_MADE(eligible, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_SCHEMA,
                 .text = eligible_text,
                 .form = "CONDITION, such as age >= 18 & smoker == \"yes\"", .standard = "everybody",
                 .help = TACIT_HELP("who may take part: it must hold for at least one row of a party, which its own device finds out"),
                 .terms = "only where {} holds for one of your rows: this device looks, and if it does, joining tells the coordinator so; nothing else about it leaves")
TACIT_STUDY_SWITCH(ask_again, .rules = TACIT_STUDY_QUIET,
                   .help = TACIT_HELP("whether people are asked, as they join, if studies that are derived from this one may be offered to them"),
                   .terms = "you may say that studies derived from this one may be offered to you, with the option 'may-ask-again'; nothing happens if you do not")
TACIT_STUDY_MADE(derived_from, .rules = TACIT_STUDY_QUIET, .text = derived_text, .form = "the 64 hexadecimal digits of an archived study",
                 .help = TACIT_HELP("the study that this one is derived from, by its permanent id (tacit study derive)"),
                 .terms = "{} is the archived study that this one is derived from")
TACIT_STUDY_LINE(validates, .rules = TACIT_STUDY_QUIET,
                 .help = TACIT_HELP("the study whose model this one evaluates, with parties that came after it (stop: {..., then: validate}); the coordinator writes it"),
                 .terms = "the model of study {} is evaluated: whoever helped to make that does not take part")
TACIT_STUDY_SWITCH(offer_earlier, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_STOP, .applies = study_is_derived, .belongs = "derived_from",
                   .help = TACIT_HELP("whether it is offered to those who took part in the study that it is derived from and said that they may be asked"))
TACIT_STUDY_MADE(arms, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_SCHEMA, .text = arms_text,
                 .form = "{column: NAME, weights: [N, ...]}",
                 .help = TACIT_HELP("the column of the schema that says which arm a party is in, drawn on its own device; its levels are the arms. Equal weights "
                         "by default"),
                 .terms = "{}")
TACIT_STUDY_LINE(compensation, .rules = TACIT_STUDY_QUIET,
                 .help = TACIT_HELP("what a participant who answered all that was asked gets for a receipt (tacit receipt)"),
                 .terms = "{}; for a receipt that nobody can link to your answers (tacit receipt get)")
TACIT_STUDY_MADE(receipts, .rules = TACIT_STUDY_QUIET | TACIT_STUDY_COUNTED, .stage = TACIT_STUDY_READ_SCHEMA,
                 .form = "KEY", .help = TACIT_HELP("the public key that receipts are checked with; the coordinator writes it"))
TACIT_STUDY_MADE(contact, .rules = TACIT_STUDY_QUIET, .stage = TACIT_STUDY_READ_SCHEMA, .text = contact_text,
                 .form = "KEY", .help = TACIT_HELP("the researcher's public key (tacit contact key): contact details are sealed with it"),
                 .terms = "{}")
TACIT_STUDY_SWITCH(archive, .rules = TACIT_STUDY_QUIET,
                   .help = TACIT_HELP("whether the coordinator archives the study by itself once it has ended, and its validation too (tacit study archive)"),
                   .terms = "once it has ended, its definition, questionnaires and what was found are published for good; names of participants are not")
TACIT_STUDY_MADE(instruments, .rules = TACIT_STUDY_QUIET, .text = instruments_text, .form = "[FILE, ...], or YAML of several lines each",
                 .help = TACIT_HELP("the questionnaires that the study is about, at most 16; they become part of the definition and go into the archive"),
                 .terms = "{} of the study: whoever reads its definition has the text")
/* clang-format on */
#undef TACIT_STUDY_NUMBER
#undef TACIT_STUDY_COUNT
#undef TACIT_STUDY_SWITCH
#undef TACIT_STUDY_LINE
#undef TACIT_PLAN_NUMBER
#undef TACIT_PLAN_COUNT
#undef TACIT_PLAN_SWITCH
#undef TACIT_STUDY_MADE
