/// What `verbena decode` knows besides the notation: which packets are wanted, and what a conversation says.
package verbena.tools.decode;
