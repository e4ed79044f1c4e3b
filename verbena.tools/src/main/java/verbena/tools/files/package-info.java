/// Moves files and trees over any device: `verbena serve` and `verbena cp`. It uses [verbena.verbs] and
/// [verbena.verbs.cm] only. What is said on the wire, and which peers get no answer: docs/files.md.
package verbena.tools.files;
