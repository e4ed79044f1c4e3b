/// The watchers of the rules: a class for each group of rules that need the same notes.
package verbena.check.rules;
