/// Happens-before between requests: who has accessed which bytes, and who knew of it.
package verbena.check.races;
