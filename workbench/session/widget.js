// The widget's own module, which travels with every output. It is small, as anywidget gives a module two seconds to
// load and a notebook keeps it; the views are asked for when one is drawn, which where our JupyterLab extension draws
// the output is never.

/** Milliseconds after which nobody will answer: a saved notebook has no Jupyter kernel. */
const PATIENCE = 20_000;

let views = null;

function render({ model, el }) {
  let takeDown = () => undefined;
  let over = false;
  const timer = setTimeout(() => {
    el.textContent = "This picture wants its Jupyter kernel: run the cell.";
  }, PATIENCE);
  views ??= asked(model);
  views.then(({ drawWidget }) => {
    clearTimeout(timer);
    if (over) return;
    el.textContent = "";
    takeDown = drawWidget(el, model);
  });
  return () => {
    over = true;
    clearTimeout(timer);
    takeDown();
  };
}

/** The views as Python sends them: an ES module, compressed with gzip, in base64. */
function asked(model) {
  return new Promise((resolve, reject) => {
    const heard = (content) => {
      if (typeof content?.views !== "string") return;
      model.off("msg:custom", heard);
      imported(content.views).then(resolve, reject);
    };
    model.on("msg:custom", heard);
    model.send({ type: "views" });
  });
}

async function imported(gzip) {
  const bytes = Uint8Array.from(atob(gzip), (character) => character.charCodeAt(0));
  const program = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const source = await new Response(program).text();
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

export default { render };
