// Weka's J48 on given folds: `java -cp weka.jar:. J48Folds data.arff folds.txt`. See compare_j48.py.
//
// folds.txt has a line for each row of the data: its fold in each repetition. Prints "first milliseconds", of the first tree
// that this JVM builds; a line for each mode, repetition and fold, "mode right rows size milliseconds"; and "warm" once each
// mode has been built on all rows for a while. From then on, for each mode that it is given on a line, it builds that once on
// all rows and prints the milliseconds: so two programs can take turns.

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import weka.classifiers.trees.J48;
import weka.core.Instances;

public class J48Folds {
    static final String[] MODES = {"pruned", "unpruned", "reduced_error"};
    static final int WARM_UP_ROUNDS = 300;
    static final int WARM_UP_SECONDS = 20;  // at most, a mode

    static J48 tree(String mode) {
        J48 tree = new J48();
        tree.setUnpruned(mode.equals("unpruned"));
        tree.setReducedErrorPruning(mode.equals("reduced_error"));
        return tree;
    }

    static double milliseconds(String mode, Instances data) throws Exception {
        J48 tree = tree(mode);
        long start = System.nanoTime();
        tree.buildClassifier(data);
        return (System.nanoTime() - start) / 1e6;
    }

    public static void main(String[] files) throws Exception {
        Instances data = new Instances(new BufferedReader(new FileReader(files[0])));
        data.setClassIndex(data.numAttributes() - 1);
        List<int[]> folds = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new FileReader(files[1]))) {
            for (String line; (line = lines.readLine()) != null;) {
                String[] words = line.trim().split(" ");
                int[] row = new int[words.length];
                for (int i = 0; i < words.length; ++i) row[i] = Integer.parseInt(words[i]);
                folds.add(row);
            }
        }
        System.out.println("first " + milliseconds("pruned", data));
        int nFolds = 0;
        for (int[] row : folds) for (int fold : row) nFolds = Math.max(nFolds, fold + 1);
        for (int repetition = 0; repetition < folds.get(0).length; ++repetition) {
            for (int fold = 0; fold < nFolds; ++fold) {
                Instances train = new Instances(data, 0), test = new Instances(data, 0);
                for (int row = 0; row < data.numInstances(); ++row)
                    (folds.get(row)[repetition] == fold ? test : train).add(data.instance(row));
                for (String mode : MODES) {
                    J48 tree = tree(mode);
                    long start = System.nanoTime();
                    tree.buildClassifier(train);
                    double milliseconds = (System.nanoTime() - start) / 1e6;
                    int right = 0;
                    for (int row = 0; row < test.numInstances(); ++row)
                        if (tree.classifyInstance(test.instance(row)) == test.instance(row).classValue()) ++right;
                    System.out.println(mode + " " + right + " " + test.numInstances() + " " + (int) tree.measureTreeSize() + " "
                        + milliseconds);
                }
            }
        }
        for (String mode : MODES) warmUp(mode, data);
        System.out.println("warm");
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
        for (String mode; (mode = asked.readLine()) != null;) System.out.println(milliseconds(mode, data));
    }

    static void warmUp(String mode, Instances data) throws Exception {
        long end = System.nanoTime() + WARM_UP_SECONDS * 1000000000L;
        for (int round = 0; round < WARM_UP_ROUNDS && System.nanoTime() < end; ++round) milliseconds(mode, data);
    }
}
