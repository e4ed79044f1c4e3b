/// Rules for programs that use verbs, tried on a program while it runs.
package verbena.check;
