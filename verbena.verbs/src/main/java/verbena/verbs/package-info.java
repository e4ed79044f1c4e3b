/// What a program imports: devices, memory, queue pairs, completions, and the requests between them.
package verbena.verbs;
