/// The cases, a class for each topic. A case is a public method that takes a rig; its name is what is promised.
package verbena.conformance.cases;
