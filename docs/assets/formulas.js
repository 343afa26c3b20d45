// Formulas are set by MathJax, which lies beside the pages, where a page has some. Without it they stay as they were written.
(() => {
  if (!document.querySelector(".arithmatex")) return;
  window.MathJax = {
    tex: {
      inlineMath: [["\\(", "\\)"]],
      displayMath: [["\\[", "\\]"]],
      // A mistake shall look like one, also to the test.
      packages: { "[-]": ["noerrors", "noundefined"] },
    },
    svg: { scale: 0.9 },
    // Its menu would fetch voices from another host.
    options: { enableMenu: false, ignoreHtmlClass: ".*|", processHtmlClass: "arithmatex" },
  };
  const script = document.createElement("script");
  script.src = new URL("mathjax/tex-svg.js", document.currentScript.src).href;
  document.head.append(script);
})();
