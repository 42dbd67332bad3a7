// Hover, filter, sort and zoom; the page says everything without it.
(() => {
  const hint = document.body.appendChild(document.createElement("div"));
  hint.className = "hint"; hint.hidden = true;
  document.querySelectorAll("svg title").forEach(title => {
    title.parentNode.dataset.hint = title.textContent; title.remove();
  });
  addEventListener("mousemove", event => {
    const shape = event.target.closest ? event.target.closest("[data-hint]") : null;
    hint.hidden = !shape;
    if (!shape) return;
    hint.textContent = shape.dataset.hint;
    hint.style.left = Math.min(event.clientX + 12, innerWidth - hint.offsetWidth - 8) + "px";
    hint.style.top = event.clientY + 14 + "px";
  });
  const value = text => { const n = Number(text.replace(/\u202f/g, "")); return text && !isNaN(n) ? n : null; };
  document.querySelectorAll("section table").forEach(table => {
    const body = table.tBodies[0], rows = [...body.rows];
    if (rows.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      let down = false;
      head.classList.add("sorts");
      head.addEventListener("click", () => {
        down = !down;
        const text = row => row.cells[column].textContent;
        rows.sort((a, b) => {
          const x = value(text(a)), y = value(text(b));
          const order = x !== null && y !== null ? x - y : text(a).localeCompare(text(b));
          return down ? order : -order;
        });
        body.append(...rows);
      });
    });
    if (rows.length < 9) return;
    const filter = document.createElement("input");
    filter.type = "search"; filter.className = "filter"; filter.placeholder = "filter these " + rows.length + " rows";
    filter.setAttribute("aria-label", "filter the rows of this table");
    filter.addEventListener("input", () => rows.forEach(row => {
      row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
    }));
    table.parentNode.before(filter);
  });
  document.querySelectorAll("svg.zooms").forEach(svg => {
    const left = Number(svg.dataset.left), right = Number(svg.dataset.right), plot = svg.querySelector(".plot");
    const shapes = [...plot.children].map(shape => [shape, ...["x", "width", "x1"].map(n => Number(shape.getAttribute(n)))]);
    let from = left, to = right, began = null;
    const at = event => {
      const place = svg.getBoundingClientRect();
      return (event.clientX - place.left) * svg.viewBox.baseVal.width / place.width;
    };
    const inside = x => Math.min(Math.max(x, left), right);
    const draw = () => shapes.forEach(([shape, x, width, x1]) => {
      const scaled = place => left + (place - from) * (right - left) / (to - from);
      const start = scaled(shape.tagName === "line" ? x1 : x), end = start + width * (right - left) / (to - from);
      shape.style.display = end < left - 1 || start > right + 1 ? "none" : "";
      if (shape.tagName === "line") { shape.setAttribute("x1", start); shape.setAttribute("x2", start); }
      else if (shape.tagName === "text") shape.setAttribute("x", start);
      else { shape.setAttribute("x", inside(start)); shape.setAttribute("width", inside(end) - inside(start)); }
    });
    svg.addEventListener("mousedown", event => { began = inside(at(event)); event.preventDefault(); });
    addEventListener("mouseup", event => {
      if (began === null) return;
      const ended = inside(at(event)), back = x => from + (x - left) * (to - from) / (right - left);
      if (Math.abs(ended - began) > 8) [from, to] = [back(Math.min(began, ended)), back(Math.max(began, ended))];
      began = null; draw();
    });
    svg.addEventListener("dblclick", () => { [from, to] = [left, right]; draw(); });
    const how = document.createElement("p");
    how.className = "rest noprint"; how.textContent = "drag over a stretch of time to look closer, double-click for all of it";
    svg.parentNode.after(how);
  });
})();
