/// The command line.
package verbena.tools;
