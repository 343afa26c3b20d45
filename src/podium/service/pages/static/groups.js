// Without this script all groups are shown, and the browser's own search finds them.
const filter = document.getElementById("filter");
if (filter !== null) {
  const box = document.getElementById("group");
  const shown = document.getElementById("shown");
  const lists = [...document.querySelectorAll("#lists tbody")].map((body) => ({
    body,
    text: [...body.querySelectorAll("th.group")].map((head) => head.textContent).join(" ").toLowerCase(),
  }));
  filter.hidden = false;
  filter.addEventListener("submit", (event) => event.preventDefault());
  box.addEventListener("input", () => {
    const wanted = box.value.trim().toLowerCase();
    let found = 0;
    for (const { body, text } of lists) {
      body.hidden = !text.includes(wanted);
      found += body.hidden ? 0 : 1;
    }
    shown.textContent = wanted === "" ? `${lists.length} groups` : `${found} of ${lists.length} groups`;
  });
}
