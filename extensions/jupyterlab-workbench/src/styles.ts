// All style sheets as one text.

import cycle from "./frame/cycle.css";
import frame from "./frame/frame.css";
import graph from "./graph/graph.css";
import root from "./style.css";
import charts from "./views/charts.css";
import code from "./views/code.css";
import compare from "./views/compare.css";
import memory from "./views/memory.css";
import moves from "./views/moves.css";
import space from "./views/space.css";
import variants from "./views/variants.css";

export const css = [root, frame, cycle, graph, charts, code, compare, memory, moves, space, variants].join("\n");
