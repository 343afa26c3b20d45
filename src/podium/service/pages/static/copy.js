// Without this script code is selected and copied by hand.
for (const block of document.querySelectorAll("pre.copyable")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain copy";
  button.textContent = "Copy";
  const said = document.createElement("span");
  said.className = "hidden";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const text = block.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = said.textContent = "Copied";
    } catch {
      // Pages without https may not write to the clipboard: select the text instead.
      const range = document.createRange();
      range.selectNodeContents(block);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = said.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const holder = document.createElement("div");
  holder.className = "copying";
  block.replaceWith(holder);
  holder.append(block, button, said);
}
