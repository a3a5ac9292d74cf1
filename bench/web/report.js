"use strict";
// Draws the figures of a report with Chart.js. The data is in the page; what a
// figure needs is described in figure.go.
(() => {
  const charts = JSON.parse(document.getElementById("data").textContent);
  const marks = { trawl: "circle", zoekt: "triangle", rg: "rect", "git-grep": "rectRot", csearch: "star", limit: "line" };
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const digits = (n) => n.toLocaleString("en", { maximumSignificantDigits: 3 });

  const show = (unit, n) => {
    switch (unit) {
      case "bytes":
        for (const [name, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (n >= size) return digits(n / size) + " " + name;
        return n + " B";
      case "share": return digits(n);
      case "per second": return digits(n) + " / s";
      case "ms": return n >= 1000 ? digits(n / 1000) + " s" : digits(n) + " ms";
      default: return digits(n) + " " + unit;
    }
  };

  // Only powers of ten are named on a scale of factors, unless there are few.
  const tick = (c) => function (n) {
    if (!c.log) return show(c.unit, n);
    const lead = n / 10 ** Math.floor(Math.log10(n) + 1e-9);
    const is = (d) => Math.abs(lead - d) < 1e-6;
    const few = Math.log10(this.max / this.min) < 2;
    return is(1) || few && (is(2) || is(5)) ? show(c.unit, n) : "";
  };

  const dataset = (c, s) => {
    const ink = s.tool ? color(s.tool) : c.labels.map(color);
    const limit = s.tool === "limit";
    const dots = c.kind === "dots" || limit && c.kind === "bars";
    return {
      label: s.name, tool: s.tool, data: s.values,
      type: dots || c.kind === "lines" ? "line" : "bar",
      showLine: c.kind === "lines" || limit && c.kind === "bars" && c.labels.length > 1,
      borderColor: ink, backgroundColor: ink, borderWidth: 2, borderDash: limit ? [6, 4] : [],
      pointStyle: marks[s.tool] || "circle",
      pointRotation: limit && !c.across ? 90 : 0,
      pointRadius: limit ? 7 : s.tool === "trawl" ? 6 : 5, pointHoverRadius: 8,
      maxBarThickness: 28, minBarLength: 2, spanGaps: true,
      order: s.tool === "trawl" ? 0 : limit ? 2 : 1,
    };
  };

  const options = (c, read) => {
    const names = { ticks: { color: color("ink"), autoSkip: false }, grid: { color: color("line") } };
    const there = c.series.flatMap((s) => s.values.filter((v) => v !== null));
    const room = c.log ? { min: Math.min(...there) / 1.3, max: Math.max(...there) * 1.3 } : {};
    const values = {
      ...room, type: c.log ? "logarithmic" : "linear", beginAtZero: !c.log,
      ticks: { color: color("soft"), callback: tick(c), maxRotation: 0 }, grid: { color: color("line") },
    };
    const top = { ...values, position: "top" };
    return {
      animation: false, responsive: true, maintainAspectRatio: false, indexAxis: c.across ? "x" : "y",
      interaction: { mode: "index", axis: c.across ? "x" : "y", intersect: false },
      scales: c.across ? { x: { ...names, type: "category" }, y: values }
        : c.labels.length > 20 ? { y: { ...names, type: "category", offset: true }, x: top }
          : { y: { ...names, type: "category", offset: true }, x: values },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { label: (item) => item.dataset.label + ": " + show(c.unit, item.raw) } },
      },
      onHover: (event, active) => read(active),
    };
  };

  // move shows the values of one label, as the pointer does.
  const move = (chart, index, read) => {
    const active = chart.data.datasets
      .map((d, i) => ({ datasetIndex: i, index }))
      .filter((a) => chart.isDatasetVisible(a.datasetIndex) && chart.data.datasets[a.datasetIndex].data[index] !== null);
    chart.setActiveElements(active);
    const at = active.length ? chart.getDatasetMeta(active[0].datasetIndex).data[index] : { x: 0, y: 0 };
    chart.tooltip.setActiveElements(active, { x: at.x, y: at.y });
    chart.update("none");
    read(active);
  };

  const keys = (chart, canvas, read) => {
    let at = -1;
    canvas.addEventListener("keydown", (event) => {
      const last = chart.data.labels.length - 1;
      const next = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last, Escape: -1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      at = event.key === "Escape" ? -1 : Math.min(Math.max(next, 0), last);
      if (at >= 0) return move(chart, at, read);
      chart.setActiveElements([]);
      chart.tooltip.setActiveElements([], { x: 0, y: 0 });
      chart.update("none");
      read([]);
    });
  };

  const legend = (chart, box) => {
    if (chart.data.datasets.length < 2) return;
    box.replaceChildren(...chart.data.datasets.map((d, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = d.label;
      button.style.setProperty("--swatch", "var(--" + d.tool + ")");
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        chart.setDatasetVisibility(i, !chart.isDatasetVisible(i));
        button.setAttribute("aria-pressed", String(chart.isDatasetVisible(i)));
        chart.update("none");
      });
      return button;
    }));
  };

  const draw = (figure) => {
    const c = charts[figure.dataset.figure];
    const canvas = figure.querySelector("canvas");
    const reading = figure.querySelector(".reading");
    const rows = c.labels.length;
    const marksPerRow = c.kind === "bars" ? c.series.length : 1;
    canvas.parentElement.style.height = (c.across ? 360 : Math.max(140, 70 + rows * Math.max(18, 16 * marksPerRow))) + "px";
    const read = (active) => {
      reading.textContent = active.length === 0 ? "" : c.labels[active[0].index] + " — " +
        active.map((a) => c.series[a.datasetIndex].name + ": " + show(c.unit, c.series[a.datasetIndex].values[a.index])).join(", ");
    };
    const chart = new Chart(canvas, { type: "bar", data: { labels: c.labels, datasets: c.series.map((s) => dataset(c, s)) }, options: options(c, read) });
    keys(chart, canvas, read);
    legend(chart, figure.querySelector(".legend"));
    return { chart, c, read };
  };

  const drawn = [...document.querySelectorAll("figure[data-figure]")].map(draw);
  const recolor = () => drawn.forEach(({ chart, c, read }) => {
    chart.data.datasets.forEach((d, i) => Object.assign(d, dataset(c, c.series[i])));
    chart.options = options(c, read);
    chart.update("none");
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  document.documentElement.dataset.drawn = String(drawn.length);
})();
