# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set termoption noenhanced
set title "Attempted updates per nanosecond in whole annealing runs"
set ylabel "attempts / ns"
set logscale y
set yrange [0.001:*]
set format y "%g"
set grid ytics
set xtics rotate by -35 nomirror scale 0
set key outside bottom center horizontal
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.85 noborder
set datafile separator "\t"
set datafile missing "-"
plot for [i = 2:series + 1] data using i:xtic(1) title columnheader(i)
