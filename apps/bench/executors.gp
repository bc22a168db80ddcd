# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set termoption noenhanced
set title "Time of a tick by executor: parallel tempering of a torus of 10 x 10 spins"
set xlabel "replicas"
set ylabel "us / tick"
set logscale x 2
set yrange [0:*]
set format x "%.0f"
set grid
set key outside bottom center horizontal
set style data linespoints
set datafile separator "\t"
set datafile missing "-"
plot for [i = 2:series + 1] data using 1:i lw 2 pt i + 3 title columnheader(i)
