// Heights of the items of a long list: where an item begins and which one lies
// at a place, both in steps that grow with the logarithm of their number. Sums
// are kept as in a Fenwick tree: node k holds the k & -k heights up to k.

export class Heights {
  #own = new Float64Array(64);
  #tree = new Float64Array(65);
  length = 0;
  total = 0;

  // push adds an item at the end.
  push(height) {
    if (this.length === this.#own.length) {
      this.#own = grown(this.#own, this.length * 2);
      this.#tree = grown(this.#tree, this.length * 2 + 1);
    }
    this.#own[this.length] = height;
    const k = ++this.length;
    let sum = height;
    for (let step = 1; step < (k & -k); step <<= 1) sum += this.#tree[k - step];
    this.#tree[k] = sum;
    this.total += height;
  }

  // set changes the height of an item, and returns by how much.
  set(i, height) {
    const by = height - this.#own[i];
    if (by === 0) return 0;
    this.#own[i] = height;
    for (let k = i + 1; k <= this.length; k += k & -k) this.#tree[k] += by;
    this.total += by;
    return by;
  }

  // before is where an item begins.
  before(i) {
    let sum = 0;
    for (let k = i; k > 0; k -= k & -k) sum += this.#tree[k];
    return sum;
  }

  // at is the item at a place, the last one for a place behind all.
  at(place) {
    let k = 0;
    let left = place;
    for (let step = 1 << Math.floor(Math.log2(this.length || 1)); step > 0; step >>= 1) {
      if (k + step <= this.length && this.#tree[k + step] <= left) {
        k += step;
        left -= this.#tree[k];
      }
    }
    return Math.min(k, Math.max(0, this.length - 1));
  }
}

function grown(numbers, length) {
  const out = new Float64Array(length);
  out.set(numbers);
  return out;
}
