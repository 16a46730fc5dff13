// All style sheets as one text.

import frame from "./frame/frame.css";
import root from "./style.css";

export const css = [root, frame].join("\n");
