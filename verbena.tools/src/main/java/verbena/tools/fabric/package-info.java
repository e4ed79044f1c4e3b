/// `verbena fabric`: the process of a soft InfiniBand fabric.
package verbena.tools.fabric;
