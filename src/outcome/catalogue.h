/* The catalogue of what is said about a session: every sentence, with the finding that it states, and the
 * phrases that are parts of sentences and tables. See base/sentences.h for the fields. */
#ifndef MEL_OUTCOME_CATALOGUE_H
#define MEL_OUTCOME_CATALOGUE_H

/* name, topic (MEL_ABOUT_..), finding, whether it is grave, the sentence */
#define MEL_OUTCOME_CATALOGUE(X)                                                                             \
    /* --- the metric --- */                                                                                 \
    X(words, METRIC, "words", false, "{words}")                                                              \
    X(finding, METRIC, "finding", false, "{words}")                                                          \
    X(preferred, METRIC, "preferred", false,                                                                 \
      "{first} is preferred among these {n} classifiers, by the numbers shown ({sure}% sure); after it "     \
      "come {others}.")                                                                                      \
    X(preferred_not_chosen, METRIC, "preferred", false,                                                      \
      "{chosen} was chosen over each of the other {others}. With the errors that people make and usual "     \
      "weights allowed for, {first} comes first by the numbers shown ({sure}% sure).")                       \
    X(none_preferred, METRIC, "none-preferred", false,                                                       \
      "The answers prefer none of these {n} classifiers to another. An order of them rests on what weights " \
      "are usual: by these, {first} comes first with a probability of {sure}%.")                             \
    X(likeliest, METRIC, "likeliest", false,                                                                 \
      "{first} is the best on average over all that the answers leave open; the one that is best by most "   \
      "of it is {likeliest} ({sure}%).")                                                                     \
    /* --- headlines --- */                                                                                  \
    X(headline_bound_more, METRIC, "headline", false, "One {one} counts more than {number} {many}.")         \
    X(headline_bound_less, METRIC, "headline", false, "One {one} counts less than {number} {many}.")         \
    X(headline_unsettled_two, METRIC, "headline", false,                                                     \
      "These answers do not settle how {missed_plural} compare with {false_alarms}.")                        \
    X(headline_unsettled, METRIC, "headline", false, "These answers do not settle what counts how much.")    \
    X(range_likely, METRIC, "headline", false, "With 95% probability {range}.")                              \
    X(range_searched, METRIC, "headline", false, "The search ended with it {range}.")                        \
    X(why_same, METRIC, "headline", false,                                                                   \
      "All {n} {n:pair|pairs} were called about the same. To learn more, choose A or B wherever you lean "   \
      "one way, however slightly.")                                                                          \
    X(why_side, METRIC, "headline", false,                                                                   \
      "All {n} answers were {side}, whatever was shown on that side. Start again, and compare the two "      \
      "sides of each question.")                                                                             \
    X(why_chance, METRIC, "headline", false,                                                                 \
      "They could as well be coin tosses. Go on with more questions, or start again and take more time "     \
      "for each.")                                                                                           \
    X(why_few, METRIC, "headline", false,                                                                    \
      "There is too little in them to rule out chance. Go on with more questions.")                          \
    X(why_unrepeated, METRIC, "headline", false,                                                             \
      "Too few questions were asked twice to rule out chance. Ask more, and some of them again.")            \
    X(why_inconsistent, METRIC, "headline", false,                                                           \
      "They contradict each other too often for a metric of this kind. Start again and take more time for "  \
      "each question, or choose another kind of metric.")                                                    \
    X(why_repeats, METRIC, "headline", false,                                                                \
      "{n} of {all} repeated questions got another answer the second time. Start again and take more time "  \
      "for each question.")                                                                                  \
    X(why_found, METRIC, "headline", false,                                                                  \
      "The answers fit a target better than an exchange rate: at least {value}% of {name} found ({low} to "  \
      "{high}%).")                                                                                           \
    X(why_cleared, METRIC, "headline", false,                                                                \
      "The answers fit a target better than an exchange rate: at least {value}% of {name} left without a "   \
      "{false_alarm} ({low} to {high}%).")                                                                   \
    X(why_missed_first, METRIC, "headline", false,                                                           \
      "The answers fit another description better than an exchange rate: from about {value} in {people} "    \
      "on, "                                                                                                 \
      "{missed_plural} count first, however many {false_alarms} that takes.")                                \
    X(why_alarms_first, METRIC, "headline", false,                                                           \
      "The answers fit another description better than an exchange rate: from about {value} in {people} "    \
      "on, "                                                                                                 \
      "{false_alarms} count first, however many {missed_plural} that takes.")                                \
    X(why_wide, METRIC, "headline", false,                                                                   \
      "One {one} may count anything from {low} to {high} {many}. More answers would narrow that.")           \
    X(why_wide_settled, METRIC, "headline", false,                                                           \
      "One {one} may count anything from {low} to {high} {many}. For the best setting of this test that "    \
      "hardly "                                                                                              \
      "matters: it is settled.")                                                                             \
    X(why_open, METRIC, "headline", false, "They set no bound on what one {missed} counts.")                 \
    X(nothing_asked, METRIC, "words", false,                                                                 \
      "Nothing was found about what counts: no question was answered.")                                      \
    X(nothing_said, METRIC, "words", false,                                                                  \
      "Nothing was found about what counts: no answer said anything about it.")                              \
    X(bound_never, METRIC, "words", false, "You never accepted a {refused} for what this test can offer.")   \
    X(bound_far, METRIC, "words", false,                                                                     \
      "That is as far as the answers tell: pairs of this test cannot ask for the bound.")                    \
    X(range_ends, METRIC, "words", false,                                                                    \
      "That is where the range of the search ends, not where the answers do.")                               \
    /* --- why the questions ended, and how precise the metric is --- */                                     \
    X(end_not_yet, END, "end", false,                                                                        \
      "The session is not finished: {n} {n:question|questions} answered so far.")                            \
    X(end_range, END, "end", false,                                                                          \
      "After {n} {n:question|questions} the search ended at an end of its range: its error is unknown.")     \
    X(end_tolerance, END, "end", false,                                                                      \
      "The session ended after {n} {n:question|questions}, when it was as precise as you asked.")            \
    X(end_slopes, END, "end", false,                                                                         \
      "The session ended after {n} {n:question|questions}, when every slope was known to the width asked "   \
      "for, which leaves more open of the metric.")                                                          \
    X(end_budget, END, "end", false,                                                                         \
      "The session ended after {n} {n:question|questions}, the most allowed.")                               \
    X(end_noise, END, "end", false,                                                                          \
      "The session ended after {n} {n:question|questions}, when no pair was left whose answer would tell "   \
      "much, wrong answers being as likely as assumed.")                                                     \
    X(end_exhausted, END, "end", false,                                                                      \
      "The session ended after {n} {n:question|questions}, when no further pair could tell more.")           \
    X(end_exhausted_pool, END, "end", false,                                                                 \
      "The session ended after {n} {n:question|questions}, when no further pair of these classifiers could " \
      "tell more.")                                                                                          \
    X(end_decided_rule, END, "end", false,                                                                   \
      "The session ended after {n} {n:question|questions}, as the decision it was for can no longer "        \
      "change: the best rule is settled.")                                                                   \
    X(end_decided_setting, END, "end", false,                                                                \
      "The session ended after {n} {n:question|questions}, as the decision it was for can hardly change: "   \
      "the "                                                                                                 \
      "best setting is settled.")                                                                            \
    X(end_decided_order, END, "end", false,                                                                  \
      "The session ended after {n} {n:question|questions}, as the decision it was for can no longer "        \
      "change: the order of the classifiers is settled.")                                                    \
    X(end_decided_threshold, END, "end", false,                                                              \
      "The session ended after {n} {n:question|questions}, as the decision it was for can no longer "        \
      "change: the best threshold is settled.")                                                              \
    X(end_beyond, END, "end", false,                                                                         \
      "The session ended after {n} {n:question|questions}, when it was clear that the cost ratio lies "      \
      "beyond what pairs of this test can ask about.")                                                       \
    X(precision_search, END, "precision", false,                                                             \
      "Its last interval was \xC2\xB1{known}; you asked for a width of {wanted}[?radians  radians].")        \
    X(precision_ratio, END, "precision", false,                                                              \
      "The cost ratio is known to a factor of {known} (95%, from end to end); you asked for {wanted}.")      \
    X(precision_ratio_alone, END, "precision", false,                                                        \
      "The cost ratio is known to a factor of {known} (95%, from end to end).")                              \
    X(precision_angle, END, "precision", false,                                                              \
      "The angle of every level line, in radians, is known within \xC2\xB1{known}; you asked for "           \
      "\xC2\xB1{wanted}.")                                                                                   \
    X(precision_fair, END, "precision", false,                                                               \
      "Every coefficient of (1 \xE2\x88\x92 lambda) a and lambda b is known within \xC2\xB1{known}; you "    \
      "asked for \xC2\xB1{wanted}.")                                                                         \
    X(precision_weights, END, "precision", false,                                                            \
      "Every weight is known within \xC2\xB1{known}; you asked for \xC2\xB1{wanted}.")                       \
    X(precision_beyond, END, "precision", false,                                                             \
      "Pairs of this test can ask about {low} to {high} {many} for one {one}; what counts is beyond, and "   \
      "they cannot tell how far.")                                                                           \
    X(precision_seems_beyond, END, "precision", false,                                                       \
      "Pairs of this test can ask about {low} to {high} {many} for one {one}; what counts seems to be "      \
      "beyond, and they cannot tell how far.")                                                               \
    X(imagined, END, "imagined", false,                                                                      \
      "The last questions were about an imagined better test, as pairs of this one could tell no more.")     \
    X(at_end, END, "at-end", false, "At that end these count nothing: {list}.")                              \
    X(at_edge, END, "at-edge", false,                                                                        \
      "Somebody for whom {what} should be rarer would answer the same way: weights of two signs are not "    \
      "looked for.")                                                                                         \
    /* --- what is known, and what is not --- */                                                             \
    X(ratios_none, KNOWN, "ratios", false, "No weight is known to a factor of 2.")                           \
    X(ratios_known, KNOWN, "ratios", false,                                                                  \
      "{n} of {all} weights are known to a factor of 2, as shares of the largest ({largest}): {list}.")      \
    X(ratios_wide_one, OPEN, "ratios", false,                                                                \
      "The other weight is still wide, as a share of the larger ({largest}): {list}.")                       \
    X(ratios_wide, OPEN, "ratios", false,                                                                    \
      "{n} of {all} weights {n:is|are} still wide, as shares of the largest ({largest}): {list}.")           \
    X(cost_known, KNOWN, "cost", false, "How the two mistakes compare is known to a factor of 2.")           \
    X(cost_open, OPEN, "cost", false, "How the two mistakes compare is not known.")                          \
    X(cost_rough, OPEN, "cost", false, "How the two mistakes compare is known only roughly: {comparison}.")  \
    X(signs_known, KNOWN, "signs", false, "The sign of {n} of {all} weights is known.")                      \
    X(signs_known_of_largest, KNOWN, "signs", false,                                                         \
      "The sign of {n} of the {all} largest weights is known.")                                              \
    X(variation, OPEN, "variation", false,                                                                   \
      "No exchange rate agrees with all answers: more questions would narrow the interval slowly.")          \
    X(imagine_more, OPEN, "imagined", false,                                                                 \
      "To learn the ratio itself, go on with the option imagined-beyond, or start a session with it: then "  \
      "come questions about an imagined better test.")                                                       \
    X(setting_open, OPEN, "setting", false,                                                                  \
      "The best setting of this test for that ratio loses at most 5% of what the test can add with a "       \
      "probability of {sure}%; from 90% on, after two answers in a row, it counts as settled.")              \
    X(setting_settled, KNOWN, "setting", false,                                                              \
      "Your setting is settled: it loses at most 5% of what this test can add to flagging all or none, "     \
      "with "                                                                                                \
      "a probability of at least {sure}%.")                                                                  \
    X(ratio_go_on, OPEN, "ratio", false,                                                                     \
      "To know the cost ratio to a factor of {factor}, go on until ratio: about {n} more "                   \
      "{n:question|questions}.")                                                                             \
    X(ratio_go_on_long, OPEN, "ratio", false,                                                                \
      "To know the cost ratio to a factor of {factor}, go on until ratio: many more questions.")             \
    X(rows_unknown, KNOWN, "rows", false,                                                                    \
      "On how many rows these classifiers were measured is not known, so their numbers are taken as exact.") \
    X(rows_settled, KNOWN, "rows", false,                                                                    \
      "These classifiers were measured on finitely many rows: the probability that {first} is also the "     \
      "best in truth is {sure}%, that of {rival} {rival_sure}%.")                                            \
    X(rows_open, OPEN, "rows", false,                                                                        \
      "These classifiers were measured on finitely many rows: the probability that {first} is also the "     \
      "best in truth is {sure}%, that of {rival} {rival_sure}%.")                                            \
    X(order_unasked, OPEN, "order", false,                                                                   \
      "Too few answers prefer one classifier to another to call their order settled: it rests on their "     \
      "numbers and on what weights are usual.")                                                              \
    X(order_settled, KNOWN, "order", false, "The order of the classifiers is settled.")                      \
    X(order_open, OPEN, "order", false, "In the order of the classifiers it is still open whether {list}.")  \
    X(pool_exhausted, OPEN, "pool", false,                                                                   \
      "Questions about these classifiers cannot narrow the intervals further; that would take other "        \
      "classifiers.")                                                                                        \
    /* --- the answers --- */                                                                                \
    X(despite_better, ANSWERS, "despite-better", false,                                                      \
      "You preferred {others} to {first} when asked, yet {first} comes first: it is at least as good in "    \
      "every number.")                                                                                       \
    X(despite, ANSWERS, "despite", false,                                                                    \
      "You preferred {others} to {first} when asked, yet {first} comes first: all answers together, with "   \
      "slips allowed for, and what weights are usual speak for it with {sure}%; more answers about such "    \
      "pairs would help.")                                                                                   \
    X(unanswered, ANSWERS, "unanswered", true,                                                               \
      "All questions were answered \"can't say\": what is said here is what was assumed before, and "        \
      "nothing of it was found.")                                                                            \
    X(unanswered_neither, ANSWERS, "unanswered", true,                                                       \
      "No question was answered with a choice: what is said here is what was assumed before, and nothing "   \
      "of it was found.")                                                                                    \
    X(repeats_none, ANSWERS, "repeats", false, "No question was asked twice.")                               \
    X(repeats_alike, ANSWERS, "repeats", false,                                                              \
      "{n} {n:question was|questions were} asked again with the sides swapped; {n:it|all} got the same "     \
      "answer.")                                                                                             \
    X(repeats, ANSWERS, "repeats", false,                                                                    \
      "{n} {n:question was|questions were} asked again with the sides swapped; {agreed} got the same "       \
      "answer.")                                                                                             \
    X(contradictions_none, ANSWERS, "contradictions", false, "The metric agrees with every answer.")         \
    X(contradictions, ANSWERS, "contradictions", false,                                                      \
      "The metric itself would have answered {n} of the {all} questions differently.")                       \
    X(skipped, ANSWERS, "skipped", false, "{n} of {all} questions were answered \"can't say\".")             \
    X(neither, ANSWERS, "neither", false,                                                                    \
      "You accepted neither side of {n} {n:pair|pairs}: acceptable is only what this metric puts above the " \
      "better side of each.")                                                                                \
    X(neither_left, ANSWERS, "neither", false,                                                               \
      "You accepted neither side of {n} {n:pair|pairs}: acceptable is only what this metric puts above the " \
      "better side of each. The best that is achievable here is above them all; whether it will do is for "  \
      "you to say.")                                                                                         \
    X(neither_none, ANSWERS, "neither", true,                                                                \
      "You accepted neither side of {n} {n:pair|pairs}: acceptable is only what this metric puts above the " \
      "better side of each. Nothing that is achievable here is above them all: a better test is needed, or " \
      "less must do.")                                                                                       \
    X(signs_pressed, ANSWERS, "signs", false,                                                                \
      "Some weights came out as nearly nothing[: {list}]. Which way do they count: is more of it better or " \
      "worse? If it is the other way than declared, the result is wrong, and no question has settled that; " \
      "a session without the signs would.")                                                                  \
    X(direction_pressed, ANSWERS, "signs", false,                                                            \
      "Some weights came out as nearly nothing[: {list}]. Which way do they count: is more of it better or " \
      "worse? If it is the other way than declared, the result is wrong, and no question has settled that; " \
      "a session without the direction would.")                                                              \
    X(same, ANSWERS, "same", false,                                                                          \
      "All {n} pairs were called about the same: differences of this size do not matter, or could not be "   \
      "told.")                                                                                               \
    X(sides, ANSWERS, "sides", false, "All {n} answers were {side}, whatever was shown on that side.")       \
    X(misfit_target, ANSWERS, "misfit", false,                                                               \
      "{why} On the rows at hand, calling positive what scores {threshold} or more keeps it: {missed} "      \
      "{missed_name} and {alarms} {alarm_name} out of {people}.")                                            \
    X(misfit_first, ANSWERS, "misfit", false,                                                                \
      "{why} No single rate describes that, and the best rule for one is not the best rule for it.")         \
    X(misfit_rises, ANSWERS, "misfit", false,                                                                \
      "One {one} seems to count more where few are left: no single exchange rate holds at all levels. "      \
      "What was found is about the middle of what was asked.")                                               \
    X(misfit_falls, ANSWERS, "misfit", false,                                                                \
      "One {one} seems to count less where few are left: no single exchange rate holds at all levels. "      \
      "What was found is about the middle of what was asked.")                                               \
    X(misfit_side, ANSWERS, "misfit", false,                                                                 \
      "The answers lean to the side {side}, whatever is shown there: by more than chance explains.")         \
    X(drift_up, ANSWERS, "drift", false,                                                                     \
      "On the way one {one} seems to have come to count more; what was found is about its average.")         \
    X(drift_down, ANSWERS, "drift", false,                                                                   \
      "On the way one {one} seems to have come to count less; what was found is about its average.")         \
    X(inconsistent_coins, ANSWERS, "consistency", true,                                                      \
      "The answers are not consistent: tossed coins explain them better than a metric of this kind with "    \
      "some wrong answers. Answers by such a metric look so much like chance with a probability of only "    \
      "{p}. Another kind of metric may suit better, [?prior the answers may speak against the metric that "  \
      "was thought likely beforehand, ]or the questions were not answered with care.")                       \
    X(inconsistent, ANSWERS, "consistency", true,                                                            \
      "The answers are not consistent: a respondent as assumed would contradict the metric, or their own "   \
      "answers, so often with a probability of only {p}. Another kind of metric may suit better, or the "    \
      "questions were not answered with care.")                                                              \
    X(consistent_as_expected, ANSWERS, "consistency", false,                                                 \
      "The answers contradict the metric no more often than expected.")                                      \
    X(consistent_less, ANSWERS, "consistency", false,                                                        \
      "A respondent as assumed would contradict the metric this often, or more often, with a probability "   \
      "of {p}.")                                                                                             \
    X(repeats_beat_chance, ANSWERS, "consistency", false,                                                    \
      "Chance would hardly answer all repeated questions alike.")                                            \
    X(undecided, ANSWERS, "consistency", false,                                                              \
      "There is not enough to tell whether the answers are consistent: a metric of this kind and tossed "    \
      "coins explain them about equally well.")                                                              \
    X(undecided_few, ANSWERS, "consistency", false, "Too few questions came back to rule out chance.")       \
    X(consistent, ANSWERS, "consistency", false,                                                             \
      "The answers are consistent: a metric of this kind explains them better than tossed coins would.")     \
    X(doubtful, ANSWERS, "consistency", false,                                                               \
      "It is doubtful that the answers are consistent: tossed coins explain them better than a metric of "   \
      "this kind. Answers by such a metric look so much like chance with a probability of about {p}.")       \
    X(errors, ANSWERS, "errors", false, "The share of wrong answers is estimated at {share}%.")              \
    X(population_ratio, ANSWERS, "population", false,                                                        \
      "That is the middle of the people whom these {n} stand for: half of them are expected to have a "      \
      "larger ratio, half a smaller one. Two in three are within a factor of {apart} of it (95% between "    \
      "{low} and {high}).")                                                                                  \
    X(population_angle, ANSWERS, "population", false,                                                        \
      "That is the mean of the people whom these {n} stand for. What one of them wants is typically "        \
      "{apart} degrees from it (95% between {low} and {high}).")                                             \
    X(agreement_none, ANSWERS, "agreement", false,                                                           \
      "They do not all want the same: {n} of {all} gave answers that speak against this metric more than "   \
      "their errors explain. Its intervals say how well the mean is known, not how far people differ.")      \
    X(agreement, ANSWERS, "agreement", false, "Nobody's answers show that they want something else.")        \
    /* --- what no answers can tell --- */                                                                   \
    X(shape_rate, LIMITS, "shape", false,                                                                    \
      "Whether the exchange rate is the same everywhere. This metric assumes so: the tenth of the "          \
      "{missed_plural} weighs as much as the first.")                                                        \
    X(shape_rates, LIMITS, "shape", false,                                                                   \
      "Whether the exchange rates are the same everywhere. This metric assumes so: the tenth mistake of a "  \
      "kind weighs as much as the first.")                                                                   \
    X(shape, LIMITS, "shape", false,                                                                         \
      "Whether another kind of metric would describe the answers better: {shape} was assumed.")              \
    X(noise_search, LIMITS, "noise", false,                                                                  \
      "How probable the interval is: the search halves an interval with every round and trusts each "        \
      "answer, so one wrong answer can spoil it.")                                                           \
    X(noise_none, LIMITS, "noise", false,                                                                    \
      "What wrong answers would change. The intervals take every answer at its word; if some were slips, "   \
      "they are too narrow.")                                                                                \
    X(noise, LIMITS, "noise", false,                                                                         \
      "A change of mind on the way. The intervals allow for wrong answers of the kind that was assumed, "    \
      "not for that.")                                                                                       \
    X(others, LIMITS, "others", false,                                                                       \
      "What other people would have answered. This is the metric of whoever was asked.")                     \
    X(sampling_ball, LIMITS, "sampling", false,                                                              \
      "Whether the same weights hold for very good classifiers: the questions were about a ball of "         \
      "achievable ones around random guessing.")                                                             \
    X(sampling_counts, LIMITS, "sampling", false,                                                            \
      "How the classifiers do on other data than those they were measured on. The intervals allow for "      \
      "chance in the counts, the order takes the numbers as measured.")                                      \
    X(sampling_exact, LIMITS, "sampling", false,                                                             \
      "How well the classifiers were measured: the numbers came without counts, and were taken as exact.")   \
    X(sampling_formula, LIMITS, "sampling", false,                                                           \
      "What real data do: the numbers out of 1,000 are exact for a population given by a formula.")          \
    X(sampling_rule, LIMITS, "sampling", false,                                                              \
      "What new data do: the numbers out of 1,000 were measured on {n} rows, and the rule was chosen on "    \
      "the same rows, which tends to make it look better than it is.")                                       \
    X(sampling_rows, LIMITS, "sampling", false,                                                              \
      "How far what was shown holds for new data: it was measured on {n} {n:row|rows}.")                     \
    /* --- phrases --- */                                                                                    \
    X(ratio_item, METRIC, "", false, "{name} ({low} to {high})")                                             \
    X(order_item, METRIC, "", false, "{first} before {next} ({sure}%)")                                      \
    X(and_more, METRIC, "", false, " and {n} more")                                                          \
    X(compare_more, METRIC, "", false, "one {one} counts more than {number} {many}")                         \
    X(compare_less, METRIC, "", false, "one {one} counts less than {number} {many}")                         \
    X(compare_between, METRIC, "", false, "one {one} counts as much as {low} to {high} {many}")              \
    X(compare_any, METRIC, "", false, "whatever the two mistakes count")                                     \
    X(weighs, METRIC, "", false, "as much as {number} {many}")                                               \
    X(weighs_more, METRIC, "", false, "more than {number} {many}")                                           \
    X(weighs_less, METRIC, "", false, "less than {number} {many}")                                           \
    X(weighs_nothing, METRIC, "", false, "nothing")                                                          \
    X(effect, METRIC, "", false, "{missed} {missed_name} and {alarms} {alarm_name}")                         \
    X(fewer, METRIC, "", false, "{number} fewer {name}")                                                     \
    X(more, METRIC, "", false, "{number} more {name}")                                                       \
    X(as_many, METRIC, "", false, "as many {name}")                                                          \
    X(both, METRIC, "", false, "{one} and {other}")                                                          \
    X(call_exchange, METRIC, "", false, "{missed} fewer {missed_name} for {alarms} more {alarm_name}")       \
    X(smaller, METRIC, "", false, " and {n} smaller differences")                                            \
    X(respondent, METRIC, "", false, "respondent {n}")

#endif
