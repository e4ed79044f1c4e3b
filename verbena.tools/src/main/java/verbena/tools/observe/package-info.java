/// Looking into the processes of this host that use Verbena: which there are, what they show by JMX, and a
/// table of it.
package verbena.tools.observe;
