// All style sheets as one text.

import cycle from "./frame/notices/cycle.css";
import frame from "./frame/frame.css";
import report from "./frame/report.css";
import graph from "./graph/graph.css";
import root from "./style.css";
import tour from "./tour/tour.css";
import charts from "./views/charts/charts.css";
import code from "./views/code/code.css";
import compare from "./views/compare/compare.css";
import memory from "./views/memory/memory.css";
import moves from "./views/moves/moves.css";
import play from "./views/play/play.css";
import profile from "./views/profile/profile.css";
import space from "./views/instances/space.css";
import variants from "./views/variants/variants.css";

export const css = [root, frame, report, cycle, graph, charts, code, compare, memory, moves, play, profile, space, tour, variants].join("\n");
