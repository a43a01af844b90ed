#!/bin/sh
# make run: the main job on the bundled data. A simulated doctor, to whom one missed cancer is as bad as
# seven false alarms, answers; the metric comes out. Usage: tools/tour.sh PROGRAM
set -eu
melicit=$1
out=$(dirname "$melicit")/tour
rm -rf "$out"
mkdir -p "$out"

echo "The question: how bad is a missed cancer compared with a false alarm?"
echo "The data: 961 masses seen in mammograms, cancer or not by biopsy; half train a model, half show what is achievable."
echo "The answers: a simulated doctor, who has 7 to 1 in mind and does not tell; asked as people are."
echo
"$melicit" elicit --data mammographic_mass --classes benign,malignant --oracle sim:doctor.json --ask show \
    --questions realistic --assume person --tolerance 1.6x --call missed="missed cancer|missed cancers" --session "$out/doctor.jsonl" --out "$out/metric.json" \
    --report "$out/report.html"

cat <<END

Now you:
  $melicit elicit --data mammographic_mass --classes benign,malignant --session mine.jsonl --report mine.html
  (a, b or = answers, u takes an answer back, q saves and quits; the same command goes on later)
  $melicit serve
  (the same in a browser: open the address that it prints)
What else there is: $melicit help
END
