// Hover, filter, sort, pages and zoom, of a page or of a cell of a notebook; what is shown is readable without them.
(() => {
  const value = text => { const n = Number(text.replace(/\u202f/g, "")); return text && !isNaN(n) ? n : null; };

  const showHints = root => {
    root.querySelectorAll("svg title").forEach(title => {
      title.parentNode.dataset.hint = title.textContent; title.remove();
    });
    const hint = document.body.appendChild(document.createElement("div"));
    hint.className = root.tagName === "HTML" ? "hint" : "rocketlens hint"; hint.hidden = true;
    root.addEventListener("mouseleave", () => { hint.hidden = true; });
    root.addEventListener("mousemove", event => {
      const shape = event.target.closest ? event.target.closest("[data-hint]") : null;
      hint.hidden = !shape;
      if (!shape) return;
      hint.textContent = shape.dataset.hint;
      hint.style.left = Math.min(event.clientX + 12, innerWidth - hint.offsetWidth - 8) + "px";
      hint.style.top = event.clientY + 14 + "px";
    });
  };

  const pagesOf = (table, rows) => {
    const rest = table.parentNode.nextElementSibling;
    const size = rows.filter(row => !row.hidden).length || 1, paged = size < rows.length;
    let page = 0, wanted = rows;
    const words = document.createElement("span"), buttons = [-1, 1].map(step => {
      const button = document.createElement("button");
      button.textContent = step < 0 ? "‹" : "›";
      button.setAttribute("aria-label", step < 0 ? "rows before these" : "rows after these");
      button.addEventListener("click", () => { page += step; draw(); });
      return button;
    });
    const draw = () => {
      const from = page * size, shown = paged ? wanted.slice(from, from + size) : wanted, left = rest ? Number(rest.dataset.left) : 0;
      rows.forEach(row => { row.hidden = true; });
      shown.forEach(row => { row.hidden = false; });
      words.textContent = ` rows ${shown.length ? from + 1 : 0} to ${from + shown.length} of ${wanted.length}` +
        (left > rows.length - size ? `, and ${left - rows.length + size} more that are not in this page ` : " ");
      buttons[0].disabled = page === 0; buttons[1].disabled = from + size >= wanted.length;
    };
    if (paged) { rest.textContent = ""; rest.classList.add("noprint"); rest.append(buttons[0], words, buttons[1]); draw(); }
    return fitting => { wanted = fitting; page = 0; draw(); };
  };

  const enliven = table => {
    const body = table.tBodies[0], rows = [...body.rows];
    if (rows.length < 2) return;
    const show = pagesOf(table, rows), filter = document.createElement("input");
    const fitting = () => rows.filter(row => row.textContent.toLowerCase().includes(filter.value.toLowerCase()));
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
        show(fitting());
      });
    });
    if (rows.length < 9) return;
    filter.type = "search"; filter.className = "filter"; filter.placeholder = "filter these " + rows.length + " rows";
    filter.setAttribute("aria-label", "filter the rows of this table");
    filter.addEventListener("input", () => show(fitting()));
    table.parentNode.before(filter);
  };

  const zoom = svg => {
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
  };

  document.querySelectorAll(".rocketlens:not([data-alive], .hint)").forEach(root => {
    root.dataset.alive = "";
    showHints(root);
    root.querySelectorAll("table").forEach(enliven);
    root.querySelectorAll("svg.zooms").forEach(zoom);
  });
})();
