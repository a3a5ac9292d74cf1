// What is asked for: the parameters of an address come in, and addresses and queries
// that mean the same, or a little more, go out.

import { adding, words } from "./query.js";

export class Asked {
  constructor(parameters) {
    this.parameters = parameters;
    this.query = parameters.get("q")?.trim() ?? "";
    this.type = parameters.get("patternType") || "keyword";
    this.context = Math.min(50, Math.max(0, parseInt(parameters.get("cl") ?? "1", 10) || 0));
  }

  // path is the page of another query, with all other settings kept.
  path(text) {
    const next = new URLSearchParams(this.parameters);
    next.set("q", text);
    return "/search?" + next;
  }

  // sent is the query with what the address adds to it.
  get sent() {
    const { query } = this;
    const scope = this.parameters.get("context");
    const parts = [query];
    if (scope && !/(^|\s)-?context:/i.test(query)) parts.unshift(`context:${scope}`);
    if (this.parameters.get("case") === "yes" && !/(^|\s)case:/i.test(query)) parts.push("case:yes");
    return parts.join(" ");
  }

  // whole is the query for all of the answer, unless it says itself how much.
  get whole() {
    return /(^|\s)count:/i.test(this.query) ? this.sent : adding(this.sent, "count:all");
  }

  // kept is the query as it is run elsewhere, also with what its words mean.
  get kept() {
    return !["keyword", "standard", "regexp"].includes(this.type) || /(^|\s)patterntype:/i.test(this.query) ? this.sent : `patternType:${this.type} ${this.sent}`;
  }

  // unlimited is kept without its limits.
  get unlimited() {
    return words(this.kept).filter((word) => !/^(count|timeout):/i.test(word)).join(" ");
  }

  // stream are the parameters of the stream of the answer.
  get stream() {
    return new URLSearchParams({
      q: this.sent, v: "V3", t: this.type, sm: this.parameters.get("sm") || "0", cm: "t", cl: String(this.context), "max-line-len": "600", cut: "match",
    });
  }
}
