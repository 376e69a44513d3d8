// Pseudo-random choices that a seed repeats (mulberry32).
'use strict';

class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  // In [0, 1).
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(n) {
    return Math.floor(this.next() * n);
  }

  chance(probability) {
    return this.next() < probability;
  }

  pick(choices) {
    return choices[this.below(choices.length)];
  }

  // The function of [weight, function, weight, function, ...] that the dice choose, called.
  choose(...weighted) {
    let total = 0;
    for (let i = 0; i < weighted.length; i += 2) total += weighted[i];
    let left = this.next() * total;
    for (let i = 0; i < weighted.length; i += 2) {
      left -= weighted[i];
      if (left < 0) return weighted[i + 1]();
    }
    return weighted.at(-1)();
  }

  // From `least` to `most` results of `make`.
  list(least, most, make) {
    return Array.from({length: least + this.below(most - least + 1)}, make);
  }
}

module.exports = {Random};
