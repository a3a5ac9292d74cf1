// How far search jobs are, on their pages. Without this script a page says how far
// they were when it came.

import { number } from "./dom.js";

const all = document.getElementById("jobs");
const rows = new Map([...(all?.querySelectorAll("[data-job]") ?? [])].map((row) => [row.dataset.job, row]));

// How long to wait for news, and after an error.
const soon = 1000, later = 15000;

function show(row, job) {
  const of = (name) => row.querySelector(`[data-of=${name}]`);
  of("state").textContent = job.state;
  of("count").textContent = `${number(job.done)} of ${number(job.total)}${job.failures ? `, ${number(job.failures)} not whole` : ""}`;
  of("size").textContent = job.size;
  const bar = row.querySelector("progress");
  bar.max = Math.max(job.total, 1);
  bar.value = job.done;
}

// again shows the page anew, without what a form has just done.
function again() {
  const asked = new URLSearchParams(location.search);
  asked.delete("done");
  location.replace(`${location.pathname}?${asked}`);
}

// look shows the news, and the whole page again once a job is over: what can be done
// with it, and its log, are others then.
async function look() {
  let wait = later;
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(`${all.dataset.progress}?${new URLSearchParams([...rows.keys()].map((id) => ["id", id]))}`);
      if (answer.ok) {
        wait = soon;
        const now = new Map((await answer.json()).map((job) => [String(job.id), job]));
        for (const [id, row] of rows) {
          const job = now.get(id);
          if (!job || job.over) return again();
          show(row, job);
        }
      }
    } catch {
      // The server may be about to start again: the page stays as it is.
    }
  }
  setTimeout(look, wait);
}

if (rows.size) setTimeout(look, soon);
