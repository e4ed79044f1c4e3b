/// `verbena conform` and `verbena sim`: the suite of what the verbs promise, and worlds from a seed.
package verbena.tools.check;
