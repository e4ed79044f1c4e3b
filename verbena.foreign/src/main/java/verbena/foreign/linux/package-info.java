/// System calls of Linux, and their numbers and structs.
package verbena.foreign.linux;
