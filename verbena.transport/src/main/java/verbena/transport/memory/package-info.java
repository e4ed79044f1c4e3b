/// Keys, regions and windows: the only code that touches user memory.
package verbena.transport.memory;
