// Runs before the app's own scripts: says when the first drawing has come to rest, and fetches what
// later pages draw their charts with once nobody waits for anything. Says how high the window is, too:
// a chart that fills it is drawn once then, and not again when it has been laid out.
(() => {
  const high = () => { document.cookie = `atomscope_high=${window.innerHeight}; path=/; samesite=strict`; };
  high();
  window.addEventListener("resize", high);
  // What follows a piece that isn't drawn yet waits for it. Kept any longer, this rule would cost a
  // tenth of each page's opening: whatever is drawn could touch it, and is weighed against it.
  const still = document.createElement("style");
  still.textContent = '[data-testid="stVerticalBlock"] > :has([data-testid="stSkeleton"], .stBidiComponent:not([data-drawn])) ~ * { visibility: hidden; }';
  document.body.append(still);
  const MOST = 10000, QUIET = 5, BEAT = 100, LATER = 2500;
  const begun = performance.now();
  let calm = 0;
  const drawing = () => {
    const app = document.querySelector(".stApp");
    return !app || app.dataset.testScriptState === "running" || !document.querySelector(".stMain h1, .stMain [data-drawn]") ||
      document.querySelector('[data-testid="stSkeleton"], .stBidiComponent:not([data-drawn])');
  };
  const warm = () => { for (const address of CHUNKS) import(new URL(address, document.baseURI)).catch(() => {}); };
  const look = () => {
    calm = drawing() ? 0 : calm + 1;
    if (calm < QUIET && performance.now() - begun < MOST) { setTimeout(look, BEAT); return; }
    document.documentElement.dataset.settled = "";
    still.remove();
    setTimeout(() => (window.requestIdleCallback || setTimeout)(warm), LATER);
  };
  look();
})();
