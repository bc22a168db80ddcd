# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set termoption noenhanced
set title "Time of one launch: median and quartiles"
set xlabel "microseconds" offset 0,0.4
set logscale x
set format x "%g"
set xtics 100
set yrange [rows - 0.5:-0.5]
set grid xtics ytics
set ytics nomirror scale 0
set lmargin 58
set key outside bottom center horizontal
set datafile separator "\t"
set datafile missing "-"
# Three columns each: median and quartiles.
plot for [i = 0:series - 1] data using 3 * i + 2:0:3 * i + 3:3 * i + 4:ytic(1) \
  with xerrorbars pointtype 7 pointsize 0.6 title columnheader(3 * i + 2)
