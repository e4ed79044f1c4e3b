/// The command line: [Verbena] is made of the commands of all packages below.
package verbena.tools;
