/// The protocol between two workers without input and output: frames, credits, matching.
package verbena.messages.protocol;
